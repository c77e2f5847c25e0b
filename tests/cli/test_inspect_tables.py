"""`site inspect` on a hospital's table."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from support.small_tables import CONTRACT, HEADER, SITE
from wardround.cli.main import app

STUDY = {
    "name": "readmission",
    "workload": {"kind": "clinical_risk", "contract": "contract.yaml"},
    "training": {"rounds": 2, "local_steps": 2, "learning_rate": 0.003},
    "evaluation": {"key_metric": "auroc"},
}


@pytest.fixture
def study(tmp_path: Path) -> Path:
    folder = tmp_path / "jobs" / "readmission"
    folder.mkdir(parents=True)
    (folder / "job.yaml").write_text(yaml.safe_dump(STUDY))
    (folder / "contract.yaml").write_text(yaml.safe_dump(CONTRACT, sort_keys=False))
    return folder


def _inspect(study: Path, *options: str, drawn: str = "2024-05-10", ward: str = "MED", **changes: Any) -> Result:
    """Inspects forty patients, of whom the first has a blood draw and a ward of the caller's."""
    folder = study.parent
    rows = [
        f"v{i},p{i},{40 + i},{150 + i},{i % 2},{ward if not i else 'MED'},{i // 2 % 2},2024-05-10,"
        f"{drawn if not i else '2024-05-10'}"
        for i in range(40)
    ]
    (folder / "table.csv").write_text("\n".join([HEADER + ",admitted,drawn", *rows]))
    columns = {**SITE["columns"], "cholesterol": {"column": "chol", "time": "drawn"}}
    section = {
        **SITE,
        "source": {"kind": "csv", "file": "table.csv"},
        "index_date": "admitted",
        "columns": columns,
        **changes,
    }
    file = folder / "site.yaml"
    file.write_text(json.dumps({"name": "hospital-a", "data": {"clinical_risk": section}}))
    return CliRunner().invoke(app, ["site", "inspect", str(file), "--study", str(study), *options])


def test_a_usable_table_passes_with_its_counts_and_notes(study: Path) -> None:
    done = _inspect(study, ward="ICU")
    assert done.exit_code == 0, done.output
    assert "train positive" in done.output
    assert "category_unseen, table.csv, column ward" in done.output
    assert "1 values of ward are in no code of site.yaml, taken as other: ICU (1)" in done.output
    assert "hospital-a, readmission: fit; 0 errors, nothing left out, 1 note" in done.output


def test_a_value_that_was_measured_too_late_fails(study: Path) -> None:
    done = _inspect(study, drawn="2024-05-12")
    assert done.exit_code == 1
    assert "row 1: cholesterol was measured at 2024-05-12" in done.output
    assert "1 of 40 values of cholesterol were measured too late" in done.output
    assert "NOT fit; 1 error, 1 left out or missing" in done.output


def test_a_table_that_is_refused_says_why_and_fails(study: Path) -> None:
    done = _inspect(study, outcome={"column": "readmitted"})
    assert done.exit_code == 1
    assert "column_missing" in done.output
    assert "did you mean admitted or readmit?" in done.output


def test_a_url_in_site_yaml_is_refused(study: Path) -> None:
    done = _inspect(study, source={"kind": "sql", "query": "select 1", "url": "postgresql://u:S3cret-word@h/d"})
    assert done.exit_code != 0
    assert "source.url\n" in done.output
    assert "unknown key" in done.output
    assert "S3cret-word" not in done.output


def test_a_column_that_the_hospital_declares_absent_is_a_note(study: Path) -> None:
    done = _inspect(study, columns={**SITE["columns"], "cholesterol": None})
    assert done.exit_code == 0, done.output
    assert "cholesterol is declared absent" in done.output
