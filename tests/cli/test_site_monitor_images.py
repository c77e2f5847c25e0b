"""`wardround site monitor` on images: a released network on new cases, and whether intensities moved."""

import json
from pathlib import Path
from typing import Any

import nibabel as nib
import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

from support.made_cases import AGREED, made_hospital, write
from support.made_release import key_pair
from support.signed_release import signed_release
from wardround.cli.main import app
from wardround.learners.initial import initial_shared_entries
from wardround.records.study import Study
from wardround.site.config import load_site_config
from wardround.site.shared_look import shared_look
from wardround.workloads.registry import make_workload

STUDY = Study.model_validate(
    {
        "name": "brain_tumor",
        "workload": {
            "kind": "brain_tumor",
            "patch": {"size": [16, 16, 16]},
            "network": {"channels": [4, 8], "strides": [2]},
        },
        "training": {"rounds": 1, "local_steps": 1, "learning_rate": 0.01},
        "evaluation": {"key_metric": "dice_mean"},
    }
)
LISTS = {"train": [f"P-{number}" for number in range(1, 7)], "validation": ["P-7"], "test": ["P-8"]}


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a hospital of ten patients, and in it a release that six of them trained."""
    folder = tmp_path_factory.mktemp("monitored")
    made_hospital(folder / "data", patients=8)
    section = {"folder": "data", "layout": "brats2023", "labels": "brats2023", "declares": AGREED, "split": LISTS}
    settings = {"name": "hospital-a", "synthetic": True, "data": {"brain_tumor": section}}
    (folder / "site.yaml").write_text(yaml.safe_dump(settings))
    key_pair(folder)
    config = load_site_config(folder / "site.yaml")
    data = make_workload(STUDY).open_site(config.section("brain_tumor"), cache=config.cache_folder)
    tensors = initial_shared_entries(make_workload(STUDY), STUDY)
    criterion = {"kind": "worst_site", "metric": "dice_mean", "better": "higher", "limit": 0.9, "sites": []}
    signed_release(folder / "v1", folder, STUDY, data, tensors, criterion=criterion)
    return folder


def _monitor(folder: Path, *more: Any) -> Any:
    arguments = ["site", "monitor", str(folder / "v1"), str(folder / "site.yaml"), *map(str, more)]
    return CliRunner().invoke(app, arguments)


def test_cases_like_those_of_training_are_scored_and_no_intensity_moved(hospital: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    found = _monitor(hospital, "--public-key", hospital / "ec.pub", "--share", "--html", page)
    assert found.exit_code == 1, found.output  # nobody trained it
    assert "8 cases of 8 patients" in found.output
    assert "at least 0.900: NOT MET" in found.output
    assert "not checked, since a release holds no hospital's own model" in found.output
    assert "NOT fit: 1 of 1 criteria is not met; no input moved" in found.output
    shared = shared_look(load_site_config(hospital / "site.yaml").state_folder, "brain_tumor")
    assert shared is not None
    assert (shared.missed, shared.cases, shared.inputs) == (["dice_mean"], 8, {"stable": 4})
    assert "t1c" in page.read_text()


def test_another_scanners_intensities_are_flagged_beyond_what_patients_differ_by(hospital: Path) -> None:
    for number in range(11, 16):
        made_hospital(hospital / "more", patients=1)
        case = hospital / "data" / f"P-{number}-000"
        for file in (hospital / "more" / "P-1-000").iterdir():
            _as_of_another_scanner(file, case / file.name.replace("P-1-000", case.name), number)
    ids = hospital / "ids.txt"
    ids.write_text("\n".join(f"P-{number}" for number in range(11, 16)))
    told = json.loads(_monitor(hospital, "--cases", ids, "--format", "json").stdout)
    inputs = {one["name"]: one for one in told["inputs"]}
    assert told["cases"] == 5
    assert inputs["t1c"]["judged"] == "large"
    assert inputs["t1c"]["index"] > inputs["t1c"]["chance"] > 0
    ids.write_text("P-11\nP-12")
    few = _monitor(hospital, "--cases", ids)
    assert "over too few patients to tell" in few.output


def _as_of_another_scanner(file: Path, target: Path, seed: int) -> None:
    data = np.asarray(nib.load(file).dataobj)
    if "-t1c" in file.name:
        noise = np.random.default_rng(seed).integers(1, 2000, data.shape)
        data = ((data > 0) * noise).astype(np.int16)
    elif "-seg" not in file.name:
        data = (data + (data > 0) * np.random.default_rng(seed).integers(0, 5, data.shape)).astype(np.int16)
    write(target, data)
