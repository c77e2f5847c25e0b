"""Tiny NIfTI cases as hospitals have them, each way that the tests need."""

import json
from pathlib import Path
from typing import Any

import nibabel as nib
import numpy as np

from wardround.workloads.brain_tumor.open_site import open_site_data
from wardround.workloads.brain_tumor.settings import SEQUENCES, BrainTumorSettings, BrainTumorSiteSettings
from wardround.workloads.brain_tumor.site_data import BrainTumorSiteData

SETTINGS = BrainTumorSettings.model_validate({"patch": {"size": [16, 16, 16]}})
NAMES = {
    "brats2018": dict(zip(SEQUENCES, ("t1", "t1ce", "t2", "flair"), strict=True)),
    "brats2023": dict(zip(SEQUENCES, SEQUENCES, strict=True)),
}
LISTS = {"train": ["P-1", "P-2"], "validation": ["P-3"], "test": ["P-4"]}
SEPARATOR = {"brats2018": "_", "brats2023": "-"}


def made_brain(seed: int = 0, shape: tuple[int, int, int] = (20, 22, 18)) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Four int16 sequences of a brain in zeros, and its label as BraTS 2023 writes it (1 NCR, 2 ED, 3 ET)."""
    generator = np.random.default_rng(seed)
    axes = np.meshgrid(*(np.linspace(-1, 1, side) for side in shape), indexing="ij")
    brain = sum((axis / radius) ** 2 for axis, radius in zip(axes, (0.8, 0.9, 0.7), strict=True)) < 1
    centre = generator.uniform(-0.2, 0.2, 3)
    distance = np.sqrt(sum((axis - c) ** 2 for axis, c in zip(axes, centre, strict=True)))
    label = np.zeros(shape, np.uint8)
    label[distance < 0.45] = 2
    label[distance < 0.30] = 3
    label[distance < 0.18] = 1
    images = {
        name: (brain * (100 * (i + 1) + 40 * label.astype(int) + generator.integers(1, 30, shape))).astype(np.int16)
        for i, name in enumerate(SEQUENCES)
    }
    return images, label


def write(file: Path, data: np.ndarray, affine: np.ndarray | None = None) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    nib.save(nib.Nifti1Image(data, np.eye(4) if affine is None else affine), file)
    return file


def write_case(
    folder: Path,
    case: str = "BraTS-GLI-00001-000",
    *,
    layout: str = "brats2023",
    seed: int = 0,
    shape: tuple[int, int, int] = (20, 22, 18),
    names: dict[str, str] | None = None,
    affine: np.ndarray | None = None,
    suffix: str = ".nii.gz",
    with_label: bool = True,
) -> Path:
    """One case folder; returns it."""
    images, label = made_brain(seed, shape)
    dash = SEPARATOR[layout]
    for sequence, name in (names or NAMES[layout]).items():
        write(folder / case / f"{case}{dash}{name}{suffix}", images[sequence], affine)
    if with_label:
        values = np.where(label == 3, 4, label) if layout == "brats2018" else label
        write(folder / case / f"{case}{dash}seg{suffix}", values.astype(np.uint8), affine)
    return folder / case


def write_msd(
    folder: Path,
    seeds: dict[str, int],
    *,
    channels: tuple[str, ...] = ("FLAIR", "T1w", "T1gd", "T2w"),
    affine: np.ndarray | None = None,
) -> Path:
    """An MSD Task01 folder whose 4D images have their channels in the order of `channels`."""
    sequence = {"FLAIR": "t2f", "T1w": "t1n", "T1gd": "t1c", "T2w": "t2w"}
    for case, seed in seeds.items():
        images, label = made_brain(seed)
        stacked = np.stack([images[sequence[name]] for name in channels], axis=-1)
        write(folder / "imagesTr" / f"{case}.nii.gz", stacked, affine)
        write(folder / "labelsTr" / f"{case}.nii.gz", np.array([0, 2, 1, 3], np.uint8)[label], affine)
    dataset = {
        "modality": {str(i): name for i, name in enumerate(channels)},
        "labels": {"0": "background", "1": "edema", "2": "non-enhancing tumor", "3": "enhancing tumour"},
        "training": [{"image": f"./imagesTr/{c}.nii.gz", "label": f"./labelsTr/{c}.nii.gz"} for c in seeds],
        "test": ["./imagesTs/BRATS_485.nii.gz"],
    }
    (folder / "dataset.json").write_text(json.dumps(dataset))
    return folder


# what the study's contract asks for and no file tells
AGREED = {"registration_space": "SRI24", "annotation_protocol": "BraTS 2023", "surgical_status": "pre-operative"}


def site(folder: Path, layout: str = "brats2023", **settings: object) -> BrainTumorSiteSettings:
    return BrainTumorSiteSettings.model_validate(
        {"folder": folder, "layout": layout, "labels": layout, "declares": AGREED, **settings},
    )


def made_hospital(folder: Path, patients: int = 4, **arguments: Any) -> Path:
    """A folder of cases `P-1-000`, `P-2-000`, ...; returns it."""
    for patient in range(1, patients + 1):
        write_case(folder, f"P-{patient}-000", seed=patient, **arguments)
    return folder


def opened(folder: Path, cache: Path | None = None, *, threads: int = 1, **settings: Any) -> BrainTumorSiteData:
    """Its data under these settings of the site."""
    cache = cache or folder.parent / "cache"
    return open_site_data(SETTINGS, site(folder, **settings), cache=cache, threads=threads)


def ids(data: BrainTumorSiteData, split: str) -> list[str]:
    return [case.case for case in data.cases(split)]
