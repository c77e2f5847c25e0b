"""`predict`, `adapt` and `export-bundle` from a checkpoint file, as a hospital uses them."""

import json
from pathlib import Path

import nibabel as nib
import numpy as np
import pytest
from typer.testing import CliRunner

from wardround.cli.main import app
from wardround.learners.checkpoint import load_checkpoint, make_checkpoint, save_checkpoint
from wardround.learners.fill import all_entries
from wardround.learners.initial import initial_shared_entries
from wardround.records.notices import RESEARCH_USE
from wardround.records.study import Study, load_study
from wardround.workloads.brain_tumor.synth.writer import CaseCounts, write_hospitals
from wardround.workloads.registry import make_workload

CLI = CliRunner()
SMALL = ("workload.patch.size=[16,16,16]", "workload.network.channels=[4,8]", "workload.network.strides=[2]")


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("generated")
    write_hospitals(out, hospitals=1, size=24, cases=CaseCounts(1, 1, 1))
    return out / "hospital-a"


@pytest.fixture
def study(study_folder: Path) -> Study:
    return load_study(study_folder, (*SMALL, "algorithm.kind=fedbn"))


@pytest.fixture
def incomplete(study: Study, tmp_path: Path) -> Path:
    """A FedBN model as the server has it: without any site's BatchNorm entries."""
    shared = initial_shared_entries(make_workload(study), study)
    return save_checkpoint(tmp_path / "best", make_checkpoint(shared, study, model_round=1))


@pytest.fixture
def complete(study: Study, tmp_path: Path) -> Path:
    entries = all_entries(make_workload(study).network())
    return save_checkpoint(tmp_path / "whole", make_checkpoint(entries, study, model_round=1, site="hospital-a"))


def test_predict_writes_labels_on_the_input_grid(complete: Path, hospital: Path, tmp_path: Path) -> None:
    case = min((hospital / "data").iterdir())
    out = tmp_path / "prediction.nii.gz"
    arguments = ["predict", "--model", str(complete), "--case", str(case), "--out", str(out), "--labels", "brats2023"]
    done = CLI.invoke(app, arguments)
    assert done.exit_code == 0, done.output
    written, given = nib.load(out), nib.load(case / f"{case.name}-t1n.nii.gz")
    assert written.shape == given.shape
    assert np.array_equal(written.affine, given.affine)
    assert "predicted volumes in ml\n  whole tumor " in done.output
    assert RESEARCH_USE in done.output


def test_predict_replaces_no_file_that_it_was_not_told_to(complete: Path, hospital: Path, tmp_path: Path) -> None:
    case, other = sorted((hospital / "data").iterdir())[:2]
    out = other / f"{other.name}-seg.nii.gz"
    label = out.read_bytes()
    arguments = ["predict", "--model", str(complete), "--case", str(case), "--out"]
    done = CLI.invoke(app, [*arguments, str(out), "--labels", "brats2023"])
    assert done.exit_code == 2
    assert "is there already" in done.output
    done = CLI.invoke(app, [*arguments, str(out), "--site", str(hospital / "site.yaml"), "--overwrite"])
    assert done.exit_code == 2  # an image or label of the site never is
    assert out.read_bytes() == label
    mine = tmp_path / "mine.nii.gz"
    mine.write_bytes(b"an earlier prediction")
    done = CLI.invoke(app, [*arguments, str(mine), "--labels", "brats2023", "--overwrite"])
    assert done.exit_code == 0, done.output
    assert nib.load(mine).shape == nib.load(out).shape


@pytest.mark.parametrize("naming", [[], ["--labels", "brats2023", "--site", "site.yaml"]])
def test_predict_assumes_no_label_convention(complete: Path, hospital: Path, tmp_path: Path, naming: list[str]) -> None:
    case = min((hospital / "data").iterdir())
    out = tmp_path / "prediction.nii.gz"
    done = CLI.invoke(app, ["predict", "--model", str(complete), "--case", str(case), "--out", str(out), *naming])
    assert done.exit_code == 2
    assert "none is assumed" in done.output
    assert not out.exists()


def test_a_convention_that_the_workload_does_not_know_is_refused(
    complete: Path, hospital: Path, tmp_path: Path
) -> None:
    arguments = ["--case", str(min((hospital / "data").iterdir())), "--out", str(tmp_path / "prediction.nii.gz")]
    done = CLI.invoke(app, ["predict", "--model", str(complete), *arguments, "--labels", "brats2030"])
    assert done.exit_code == 2
    assert "--labels brats2030" in done.output
    assert "brats2018, brats2023, msd" in done.output


@pytest.mark.parametrize(
    "command",
    [["predict", "--case", "CASE", "--out", "x.nii.gz", "--labels", "brats2023"], ["export-bundle", "--out", "bundle"]],
)
def test_a_fedbn_model_without_a_sites_entries_is_refused_with_the_way_out(
    incomplete: Path, hospital: Path, command: list[str]
) -> None:
    case = str(min((hospital / "data").iterdir()))
    done = CLI.invoke(app, [*(case if part == "CASE" else part for part in command), "--model", str(incomplete)])
    assert done.exit_code == 2
    assert "wardround adapt" in done.output
    assert not Path("bundle").exists()


def test_adapt_completes_it_for_a_site(incomplete: Path, hospital: Path, tmp_path: Path) -> None:
    out = tmp_path / "adapted"
    site = str(hospital / "site.yaml")
    done = CLI.invoke(app, ["adapt", "--model", str(incomplete), "--site", site, "--out", str(out)])
    assert done.exit_code == 0, done.output
    card = load_checkpoint(out).card
    assert card.complete
    assert card.site == "hospital-a"
    assert "statistics_re_measured" in card.notes


def test_export_bundle_writes_a_bundle(complete: Path, tmp_path: Path) -> None:
    out = tmp_path / "bundle"
    done = CLI.invoke(app, ["export-bundle", "--model", str(complete), "--out", str(out)])
    assert done.exit_code == 0, done.output
    about = json.loads((out / "configs" / "metadata.json").read_text())["wardround"]
    assert RESEARCH_USE in (out / "docs" / "README.md").read_text()
    assert about["site"] == "hospital-a"  # whose BatchNorm entries it holds
    assert about["notes"] == []


def test_a_missing_checkpoint_is_one_message(tmp_path: Path) -> None:
    done = CLI.invoke(app, ["export-bundle", "--model", str(tmp_path / "none"), "--out", str(tmp_path / "bundle")])
    assert done.exit_code == 2
    assert "none.safetensors" in done.output


@pytest.mark.parametrize("below", ["", "x"])
@pytest.mark.parametrize("command", ["predict", "adapt", "export-bundle"])
def test_an_output_that_cannot_be_is_one_message(
    complete: Path, hospital: Path, tmp_path: Path, command: str, below: str
) -> None:
    taken = tmp_path / "taken.nii.gz"
    taken.mkdir() if command != "export-bundle" and not below else taken.write_text("mine")
    (tmp_path / "taken.nii.gz.safetensors").mkdir()
    case = min((hospital / "data").iterdir())
    more = {
        "predict": ["--case", str(case), "--labels", "brats2023", "--overwrite"],
        "adapt": ["--site", str(hospital / "site.yaml")],
        "export-bundle": [],
    }
    out = str(taken / below) + ".nii.gz" if below else str(taken)
    done = CLI.invoke(app, [command, "--model", str(complete), "--out", out, *more[command]])
    assert done.exit_code == 2, done.output
    assert "taken.nii.gz" in done.output


@pytest.mark.parametrize("device", ["gpu", "mps", "cuda:99"])
def test_predict_tells_a_device_that_is_not_there(complete: Path, hospital: Path, tmp_path: Path, device: str) -> None:
    case = str(min((hospital / "data").iterdir()))
    arguments = ["predict", "--model", str(complete), "--case", case, "--labels", "brats2023", "--device", device]
    done = CLI.invoke(app, [*arguments, "--out", str(tmp_path / "x.nii.gz")])
    assert done.exit_code == 2
    assert "device: " in done.output
