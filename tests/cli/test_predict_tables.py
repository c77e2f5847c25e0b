"""`predict` from a checkpoint of a risk model and a hospital's own table."""

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner, Result

from support.made_tables import made_frame, made_study, site_section
from wardround.cli.main import app
from wardround.learners.checkpoint import make_checkpoint, save_checkpoint
from wardround.learners.fill import all_entries
from wardround.records.notices import RESEARCH_USE
from wardround.workloads.registry import make_workload


@pytest.fixture
def hospital(tmp_path: Path) -> Path:
    """A site.yaml, a table without outcomes as CSV and Parquet, and a model."""
    study = made_study()
    asked = made_frame(2, patients=20).drop("readmitted")
    asked.write_csv(tmp_path / "asked.csv")
    asked.write_parquet(tmp_path / "asked.parquet")
    site = {"name": "hospital-a", "data": {"clinical_risk": site_section("stays.csv")}}
    (tmp_path / "site.yaml").write_text(json.dumps(site))
    entries = all_entries(make_workload(study).network())
    save_checkpoint(tmp_path / "model", make_checkpoint(entries, study, model_round=1))
    return tmp_path


def _predict(hospital: Path, *more: str, case: str = "asked.csv") -> Result:
    files = ["--model", str(hospital / "model"), "--case", str(hospital / case), "--out", str(hospital / "risks.csv")]
    return CliRunner().invoke(app, ["predict", *files, *more])


@pytest.mark.parametrize("case", ["asked.csv", "asked.parquet"])
def test_each_row_gets_a_risk_and_the_figures_are_told_in_words(hospital: Path, case: str) -> None:
    done = _predict(hospital, "--site", str(hospital / "site.yaml"), case=case)
    assert done.exit_code == 0, done.output
    assert (hospital / "risks.csv").stat().st_mode & 0o077 == 0
    risks = pl.read_csv(hospital / "risks.csv")
    lines = [line.split() for line in done.output.splitlines()]
    assert ["rows", f"{len(risks)}"] in lines
    assert ["mean", "risk", f"{risks['risk'].mean():.3f}"] in lines
    assert RESEARCH_USE in done.output
    assert "volume" not in done.output


@pytest.mark.parametrize("labels", [[], ["--labels", "brats2023"]])
def test_without_the_sites_own_names_it_is_refused_without_words_for_images(hospital: Path, labels: list[str]) -> None:
    done = _predict(hospital, *labels)
    assert done.exit_code == 2
    assert "give --site SITE_YAML" in done.output
    assert "clinical_risk" in done.output
    assert "tissue" not in done.output
    assert not (hospital / "risks.csv").exists()


def test_a_fault_in_the_studys_own_section_is_told_under_its_key(hospital: Path) -> None:
    site = {"name": "hospital-a", "data": {made_study().name: {**site_section("stays.csv"), "outcom": {}}}}
    (hospital / "site.yaml").write_text(json.dumps(site))
    done = _predict(hospital, "--site", str(hospital / "site.yaml"))
    assert done.exit_code == 2
    assert f"site.yaml: data.{made_study().name}: outcom: unknown key" in done.output
