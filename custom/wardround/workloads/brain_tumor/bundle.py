"""A trained network as a MONAI bundle, which MONAI's own tools run without wardround."""

import json
from pathlib import Path
from typing import Any

import monai
import numpy
import torch
from torch import nn

from wardround.records.notices import RESEARCH_USE
from wardround.workloads.brain_tumor.labels import CONVENTIONS
from wardround.workloads.brain_tumor.network import unet_arguments
from wardround.workloads.brain_tumor.settings import REGIONS, BrainTumorSettings

MODEL_FILE = "models/model.pt"
INFERENCE_FILE = "configs/inference.json"
METADATA_FILE = "configs/metadata.json"
_SCHEMA = "https://github.com/Project-MONAI/MONAI-extra-test-data/releases/download/0.8.1/meta_schema_20240725.json"


def write_bundle(network: nn.Module, settings: BrainTumorSettings, folder: Path, *, about: dict[str, Any]) -> None:
    """Writes configs/metadata.json, configs/inference.json, models/model.pt and docs/README.md.

    The bundle prepares images as wardround does: orientation, spacing, non-zero z-scores by channel, the box around
    the brain, zeros up to the patch; and maps probabilities back to the input's grid before the cut at 0.5. It does
    not check them: a missing or unstripped image is told by wardround alone. It reads one file a sequence and writes
    BraTS 2023 label values unless told others. A site with `normalisation: min_max` needs wardround to predict.

    Args:
        network: with the weights in it; models/model.pt is its plain state_dict, so that `torch.load` with
            weights_only reads it.
        settings: the study's.
        folder: made if it is not there; files of the same names are replaced.
        about: what the model is, in plain values: study, algorithm, model_round, weights_sha256.
    """
    for name in ("configs", "models", "docs"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    torch.save({name: tensor.detach().cpu() for name, tensor in network.state_dict().items()}, folder / MODEL_FILE)
    for file, content in ((INFERENCE_FILE, _inference(settings)), (METADATA_FILE, _metadata(settings, about))):
        (folder / file).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    (folder / "docs" / "README.md").write_text(_readme(settings, about), encoding="utf-8")


def _inference(settings: BrainTumorSettings) -> dict[str, Any]:
    contract, patch = settings.contract, list(settings.patch.size)
    values = CONVENTIONS["brats2023"]
    preprocessing = [
        {"_target_": "LoadImaged", "keys": "image", "image_only": True},
        {"_target_": "EnsureChannelFirstd", "keys": "image"},
        {"_target_": "Orientationd", "keys": "image", "axcodes": contract.orientation, "labels": None},
        {
            "_target_": "Spacingd",
            "keys": "image",
            "pixdim": list(contract.spacing_mm),
            "mode": "bilinear",
            "padding_mode": "border",
        },
        {"_target_": "NormalizeIntensityd", "keys": "image", "nonzero": True, "channel_wise": True},
        {
            "_target_": "CropForegroundd",
            "keys": "image",
            "source_key": "image",
            "select_fn": "$lambda image: image != 0",
            "allow_smaller": True,
        },
        {"_target_": "SpatialPadd", "keys": "image", "spatial_size": patch},
    ]
    postprocessing = [
        {"_target_": "Activationsd", "keys": "prediction", "sigmoid": True},
        {
            "_target_": "Invertd",
            "keys": "prediction",
            "transform": "@preprocessing",
            "orig_keys": "image",
            "nearest_interp": False,
            "to_tensor": True,
        },
        {"_target_": "AsDiscreted", "keys": "prediction", "threshold": 0.5},
        {"_target_": "Lambdad", "keys": "prediction", "func": "@regions_to_labels"},
        {
            "_target_": "SaveImaged",
            "keys": "prediction",
            "output_dir": "@output_dir",
            "output_postfix": "prediction",
            "output_dtype": "$numpy.uint8",
            "separate_folder": False,
            "resample": False,
        },
    ]
    return {
        "imports": ["$import numpy", "$import torch", "$import monai"],
        "bundle_root": ".",
        "output_dir": "$@bundle_root + '/predictions'",
        **{name: f"{name}.nii.gz" for name in contract.sequences},
        "label_values": {"core": values.core, "edema": values.edema, "enhancing": values.enhancing},
        "device": "$torch.device('cuda' if torch.cuda.is_available() else 'cpu')",
        "network_def": {"_target_": "UNet", **unet_arguments(settings.network, channels_in=len(contract.sequences))},
        "weights": f"$torch.load(@bundle_root + '/{MODEL_FILE}', map_location=@device, weights_only=True)",
        "network": "$@network_def.to(@device).eval()",
        "preprocessing": {"_target_": "Compose", "transforms": preprocessing},
        "inferer": {
            "_target_": "SlidingWindowInferer",
            "roi_size": patch,
            "sw_batch_size": settings.inference.windows_at_once,
            "overlap": settings.inference.overlap,
            "mode": "gaussian",
        },
        "predict": "$torch.no_grad()(lambda image: @inferer(image[None].to(@device), @network)[0])",
        "regions_to_labels": (
            "$lambda regions: torch.where(regions[2:3] > 0, @label_values::enhancing, torch.where(regions[0:1] > 0, "
            "@label_values::core, torch.where(regions[1:2] > 0, @label_values::edema, 0)))"
        ),
        "inference": {
            "_target_": "Compose",
            "transforms": [
                "@preprocessing",
                {"_target_": "CopyItemsd", "keys": "image", "names": "prediction"},
                {"_target_": "Lambdad", "keys": "prediction", "func": "@predict", "track_meta": True},
                *postprocessing,
            ],
        },
        "run": [
            "$@network.load_state_dict(@weights)",
            "$@inference({'image': [" + ", ".join(f"@{name}" for name in contract.sequences) + "]})",
        ],
    }


def _metadata(settings: BrainTumorSettings, about: dict[str, Any]) -> dict[str, Any]:
    contract = settings.contract
    stride = int(numpy.prod(settings.network.strides))
    return {
        "schema": _SCHEMA,
        "version": "0.1.0",
        "changelog": {"0.1.0": "exported by wardround"},
        "monai_version": monai.__version__,
        "pytorch_version": torch.__version__.split("+")[0],
        "numpy_version": numpy.__version__,
        "required_packages_version": {"nibabel": "5.2", "fire": "0.7"},
        "task": "Brain tumor segmentation",
        "description": "Tumor core, whole tumor and enhancing tumor on MRI; a U-Net trained across hospitals",
        "authors": "exported by wardround",
        "copyright": "",
        "name": "wardround brain tumor",
        "wardround": about,
        "image_contract": contract.model_dump(mode="json"),
        "intended_use": RESEARCH_USE,
        "network_data_format": {
            "inputs": {
                "image": {
                    "type": "image",
                    "format": "magnitude",
                    "modality": "MR",
                    "num_channels": len(contract.sequences),
                    "spatial_shape": [f"{stride}*n"] * 3,
                    "dtype": "float32",
                    "value_range": [],
                    "is_patch_data": True,
                    "channel_def": {str(index): name for index, name in enumerate(contract.sequences)},
                }
            },
            "outputs": {
                "pred": {
                    "type": "image",
                    "format": "segmentation",
                    "num_channels": len(REGIONS),
                    "spatial_shape": [f"{stride}*n"] * 3,
                    "dtype": "float32",
                    "value_range": [],
                    "is_patch_data": True,
                    "channel_def": dict(zip("012", ("tumor core", "whole tumor", "enhancing tumor"), strict=True)),
                }
            },
        },
    }


def _readme(settings: BrainTumorSettings, about: dict[str, Any]) -> str:
    contract = settings.contract
    files = " ".join(f"--{name} CASE-{name}.nii.gz" for name in contract.sequences)
    facts = "\n".join(f"- {key}: {value}" for key, value in about.items())
    return f"""# Brain tumor segmentation

A U-Net for tumor core, whole tumor and enhancing tumor, trained across hospitals with wardround.

{facts}

## Run

    python -m monai.bundle run --config_file BUNDLE/{INFERENCE_FILE} --bundle_root BUNDLE {files} --output_dir OUT

Needs monai, nibabel and fire. Images: {", ".join(contract.sequences)} of one examination, skull-stripped (background
exactly 0), registered in {contract.registration_space} space; any orientation and voxel size. The label map
`OUT/<name of the first file>_prediction.nii.gz` lies on the input's grid and has BraTS 2023 values: 1 necrotic core,
2 edema, 3 enhancing tumor. Others: `--label_values::enhancing 4`.

The bundle does not check the images. `wardround predict` does, finds sequences by name and gives the same labels.
{RESEARCH_USE}
"""
