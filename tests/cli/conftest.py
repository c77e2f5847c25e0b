"""A study and sites to give to the command line."""

import sys
from pathlib import Path

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).parents[1] / "reporting"))  # the hand-made run

STUDY = {
    "name": "brain_tumor",
    "workload": {"kind": "brain_tumor"},
    "training": {"rounds": 4, "local_steps": 2, "learning_rate": 0.003},
    "evaluation": {"key_metric": "dice_mean", "personalise_steps": 8},
}


@pytest.fixture
def study_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a job.yaml, below the working folder."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "jobs" / "brain_tumor"
    folder.mkdir(parents=True)
    (folder / "job.yaml").write_text(yaml.safe_dump(STUDY))
    return folder


@pytest.fixture
def sites_folder(tmp_path: Path) -> Path:
    """Four sites, of generated data; the fourth evaluates."""
    for name in "abcd":
        site = {
            "name": f"hospital-{name}",
            "role": "evaluate" if name == "d" else "train",
            "synthetic": True,
            "data": {"brain_tumor": {"folder": "data", "layout": "brats2023", "labels": "brats2023"}},
        }
        folder = tmp_path / "sites" / f"hospital-{name}"
        folder.mkdir(parents=True)
        (folder / "site.yaml").write_text(yaml.safe_dump(site))
    return tmp_path / "sites"
