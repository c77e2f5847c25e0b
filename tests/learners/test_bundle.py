import json
import subprocess
import sys
from pathlib import Path

import nibabel as nib
import numpy as np
import pytest
import torch
from torch import nn

from support.fake_workload import FakeWorkload
from wardround.learners.bundle import export_bundle
from wardround.learners.checkpoint import load_checkpoint, make_checkpoint, save_checkpoint
from wardround.learners.predict import predict_file
from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import Study
from wardround.site.config import load_site_config
from wardround.workloads.brain_tumor.synth.writer import CaseCounts, write_hospitals
from wardround.workloads.registry import workload_of


def _study(algorithm: str = "fedavg") -> Study:
    workload = {
        "kind": "brain_tumor",
        "network": {"channels": [4, 8], "strides": [2]},
        "patch": {"size": [16, 16, 16]},
    }
    training = {"rounds": 1, "local_steps": 1, "learning_rate": 0.01}
    settings = {
        "name": "bundle_study",
        "workload": workload,
        "algorithm": {"kind": algorithm},
        "training": training,
        "evaluation": {"key_metric": "dice_mean"},
    }
    return Study.model_validate(settings)


def _save_model(file: Path, algorithm: str = "fedavg", *, shared_only: bool = False) -> Path:
    study = _study(algorithm)
    torch.manual_seed(0)
    tensors = workload_of(study.workload).network().state_dict()
    if shared_only:
        tensors = {name: tensor for name, tensor in tensors.items() if ".adn." not in name}
    return save_checkpoint(file, make_checkpoint(tensors, study, model_round=1))


@pytest.fixture(scope="module")
def hospital(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("hospital")
    write_hospitals(out, hospitals=1, size=24, cases=CaseCounts(0, 0, 1), seed=0, spacing_mm=1.25)
    return out / "hospital-a"


def test_monai_runs_the_bundle_and_gives_our_labels(hospital, tmp_path):
    """At 1.25 mm against the study's 1 mm, in LPS: both resample, turn, crop, normalise and map back."""
    model = _save_model(tmp_path / "model")
    bundle = export_bundle(load_checkpoint(model), tmp_path / "bundle")
    [case] = (hospital / "data").iterdir()
    section = load_site_config(hospital / "site.yaml").section("brain_tumor")
    predict_file(load_checkpoint(model), case, tmp_path / "ours.nii.gz", data=section)
    command = [sys.executable, "-m", "monai.bundle", "run", "--config_file", f"{bundle}/configs/inference.json"]
    command += ["--bundle_root", str(bundle), "--output_dir", str(tmp_path / "monai"), "--label_values::enhancing", "4"]
    for sequence in ("t1n", "t1c", "t2w", "t2f"):
        command += [f"--{sequence}", str(case / f"{case.name}-{sequence}.nii.gz")]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert result.returncode == 0, result.stderr[-2000:]
    [file] = (tmp_path / "monai").iterdir()
    ours, monais = nib.load(tmp_path / "ours.nii.gz"), nib.load(file)
    assert np.allclose(ours.affine, monais.affine)
    labels = np.asarray(monais.dataobj)
    assert labels.dtype == np.uint8
    expected = np.asarray(ours.dataobj)
    assert (expected > 0).any()
    assert np.array_equal(np.where(labels == 4, 3, labels), expected)


def test_the_bundle_says_what_it_is_and_holds_the_weights(tmp_path):
    model = _save_model(tmp_path / "model")
    bundle = export_bundle(load_checkpoint(model), tmp_path / "bundle")
    metadata = json.loads((bundle / "configs" / "metadata.json").read_text())
    assert metadata["wardround"]["weights_sha256"] == load_checkpoint(model).card.weights_sha256
    channels = metadata["network_data_format"]["inputs"]["image"]["channel_def"]
    assert list(channels.values()) == ["t1n", "t1c", "t2w", "t2f"]
    weights = torch.load(bundle / "models" / "model.pt", weights_only=True)
    assert all(torch.equal(tensor, weights[name]) for name, tensor in load_checkpoint(model).tensors.items())
    assert "monai.bundle run" in (bundle / "docs" / "README.md").read_text()


def test_a_fedbn_model_without_a_sites_entries_is_refused(hospital, tmp_path):
    model = _save_model(tmp_path / "model", "fedbn", shared_only=True)
    with pytest.raises(WardroundError, match="wardround adapt") as exported:
        export_bundle(load_checkpoint(model), tmp_path / "bundle")
    [case] = (hospital / "data").iterdir()
    section = {"folder": hospital / "data", "layout": "brats2023", "labels": "brats2023"}
    with pytest.raises(WardroundError, match="wardround adapt") as predicted:
        predict_file(load_checkpoint(model), case, tmp_path / "prediction.nii.gz", data=section)
    assert exported.value.code is predicted.value.code is Reason.LOCAL_STATE_MISSING
    assert not (tmp_path / "bundle").exists()
    assert not (tmp_path / "prediction.nii.gz").exists()


def test_a_complete_fedbn_model_is_accepted(tmp_path):
    model = load_checkpoint(_save_model(tmp_path / "model", "fedbn"))
    assert export_bundle(model, tmp_path / "bundle").is_dir()


def test_a_workload_without_bundles_says_so(tmp_path):
    with pytest.raises(WardroundError, match="no MONAI bundle"):
        FakeWorkload().export_bundle(nn.Identity(), tmp_path, about={})
