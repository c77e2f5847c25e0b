"""`synth`, `check` and the naming that `predict` needs, on a small hospital."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from wardround.cli.main import app

CLI = CliRunner()


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("generated")
    small = ["--hospitals", "1", "--size", "24", "--train", "1", "--validation", "1", "--test", "1"]
    done = CLI.invoke(app, ["synth", "brain-tumor", str(out), *small])
    assert done.exit_code == 0, done.output
    assert done.output.strip().endswith("hospital-a/site.yaml")
    return out / "hospital-a"


def test_check_counts_what_a_study_would_see(hospital: Path, study_folder: Path) -> None:
    done = CLI.invoke(app, ["check", str(hospital / "site.yaml"), "--study", str(study_folder)])
    assert done.exit_code == 0, done.output
    assert "train cases" in done.output


def test_check_names_a_broken_file_and_the_split_that_it_empties_f35(hospital: Path, study_folder: Path) -> None:
    broken = min((hospital / "data").glob("*/*t1c.nii.gz"))
    whole = broken.read_bytes()
    broken.write_bytes(whole[:200])
    try:
        done = CLI.invoke(app, ["check", str(hospital / "site.yaml"), "--study", str(study_folder)])
    finally:
        broken.write_bytes(whole)
    assert done.exit_code == 1
    assert broken.name in done.output
    assert "no train cases" in done.output


def test_unknown_hospital_for_min_max_is_exit_2(tmp_path: Path) -> None:
    done = CLI.invoke(app, ["synth", "brain-tumor", str(tmp_path), "--hospitals", "1", "--min-max", "hospital-z"])
    assert done.exit_code == 2
    assert "hospital-z" in done.output
