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
    assert "1 value of ward is in no code of site.yaml, taken as other: ICU (1)" in done.output
    assert (
        "hospital-a, readmission: fit; 0 errors, nothing left out, 5 notes" in done.output
    )  # few patients in each split


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


def test_a_value_commands_no_terminal_and_fills_no_screen(study: Path) -> None:
    done = _inspect(study, ward="\x1b[2J\x1b[31m")
    assert r"taken as other: \x1b[2J\x1b[31m (1)" in done.output
    done = _inspect(study, ward="9" * 400)
    assert f"taken as other: {'9' * 60}... (400 characters) (1)" in done.output


def test_json_has_every_part_of_every_finding_and_nothing_else_on_standard_output(study: Path) -> None:
    done = _inspect(study, "--format", "json", ward="ICU")
    (record,) = json.loads(done.stdout)
    assert (record["site"], record["study"], record["usable"]) == ("hospital-a", "readmission", True)
    unseen = record["findings"][0]
    assert (unseen["severity"], unseen["kind"], unseen["count"]) == ("note", "category_unseen", 1)
    assert unseen["where"] == {"file": "table.csv", "key": "", "case": "", "row": None, "column": "ward"}
    assert unseen["advice"] == "name at columns.ward.codes what is one of medicine, surgery"


def test_a_page_is_written_for_the_hospitals_own_eyes(study: Path) -> None:
    page = study.parent / "inspection.html"
    done = _inspect(study, "--html", str(page))
    assert done.exit_code == 0, done.output
    assert "keep it here" in done.stderr
    assert page.stat().st_mode & 0o077 == 0  # whatever folder it is put into
    text = page.read_text(encoding="utf-8")
    assert "Columns by split" in text
    assert "cholesterol, mg/dL" in text


def test_a_page_costs_no_table(study: Path) -> None:
    done = _inspect(study, "--html", str(study.parent / "table.csv"))
    assert done.exit_code == 2
    assert "would be replaced" in done.output
    assert (study.parent / "table.csv").read_text().startswith(HEADER)


def test_the_first_of_each_kind_are_shown_and_with_all_every_one(study: Path) -> None:
    wrong = {**SITE["columns"], "cholesterol": {"column": "chol", "unit": "mmol/L"}}
    few = _inspect(study, columns=wrong)
    assert few.exit_code == 1
    assert "value_implausible x 40, table.csv, column chol" in few.output
    assert "... and 35 more, see --all" in few.output
    assert "expected: 50 to 700 mg/dL" in few.output
    assert "what to do: see columns.cholesterol.unit, .codes and .missing of site.yaml; they would be" in few.output
    every = _inspect(study, "--all", columns=wrong)
    assert "row 40: cholesterol is 189 mmol/L" in every.output
    assert "see --all" not in every.output


def test_a_warning_alone_lets_it_pass_unless_asked_to_be_strict(study: Path) -> None:
    blank = {"drawn": "no day"}
    assert _inspect(study, **blank).exit_code == 0
    strict = _inspect(study, "--strict", **blank)
    assert strict.exit_code == 1
    assert "fit; 0 errors, 1 left out or missing" in strict.output


@pytest.mark.parametrize(
    ("unit", "told"),
    [("mg/dl", "did you mean mg/dL?"), ("mmol/l", "did you mean mmol/L?"), ("furlong", "convert the values")],
)
def test_a_unit_that_the_contract_lacks_is_told_with_the_one_that_was_meant(study: Path, unit: str, told: str) -> None:
    done = _inspect(study, columns={**SITE["columns"], "cholesterol": {"column": "chol", "unit": unit}})
    assert done.exit_code == 1
    assert told in done.output


def test_studies_of_the_sections_are_inspected_one_after_another(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _inspect(study)
    file = study.parent / "site.yaml"
    settings = json.loads(file.read_text())
    section = settings["data"]["clinical_risk"]
    monkeypatch.chdir(study.parents[1])
    for name, sections in (("again", {"readmission": section, "again": section}), ("else", {"clinical_risk": section})):
        (study.parent / name).mkdir()
        (study.parent / name / "job.yaml").write_text(yaml.safe_dump({**STUDY, "name": name}))
        (study.parent / name / "contract.yaml").write_text((study / "contract.yaml").read_text())
        file.write_text(json.dumps({"name": "hospital-a", "data": sections}))
        done = CliRunner().invoke(app, ["site", "inspect", str(file)])
        if name == "again":
            assert done.exit_code == 0, done.output
            assert "hospital-a, readmission: fit" in done.output
            assert "hospital-a, again: fit" in done.output
        else:
            assert done.exit_code == 2
            assert "jobs/ has no study of such a name here" in done.output


def test_a_kind_that_is_not_installed_is_told_as_such(study: Path) -> None:
    (study / "job.yaml").write_text(yaml.safe_dump({**STUDY, "workload": {"kind": "clinical_rsk"}}))
    done = _inspect(study)
    assert done.exit_code == 2
    assert "workload.kind: 'clinical_rsk' is not installed" in done.output
    assert "has no section" not in done.output


def test_what_is_not_declared_is_one_finding_below_what_is_not_there(study: Path) -> None:
    renamed = {
        name: {**mapping, "column": f"X{place}"} for place, (name, mapping) in enumerate(SITE["columns"].items())
    }
    done = _inspect(study, columns=renamed, known_at_index=False)
    assert done.exit_code == 1
    missing, undeclared = done.stdout.index("column_missing x 4, site.yaml"), done.stdout.index("known_too_late x 4")
    assert missing < undeclared
    assert "columns.age.column: no column 'X0' in table.csv" in done.stdout
    assert "at age, cholesterol, sex, ward" in done.stdout
    assert done.stdout.count("what to do:") == 2

    absent = _inspect(study, columns=renamed, known_at_index=False, source={"kind": "csv", "file": "no.csv"})
    assert absent.stdout.index("no.csv\n           no such file") < absent.stdout.index("known_too_late x 4")
    as_json = _inspect(study, "--format", "json", columns=renamed, known_at_index=False)
    (record,) = json.loads(as_json.stdout)
    (told,) = [one for one in record["findings"] if one["kind"] == "known_too_late"]
    assert told["count"] == 4
    assert "`known_at_index: true` beside `columns`" in told["advice"]


def test_a_path_that_leads_nowhere_is_told_with_keys_that_are_empty(study: Path) -> None:
    done = _inspect(study, source={"kind": "csv", "file": "no.csv", "decimal": None}, contract_file="signed.yaml")
    assert done.exit_code == 1
    told = [done.stdout.index(one) for one in ("no.csv: data.clinical_risk.source.file: nothing is there", "empty")]
    assert told == sorted(told)
    assert "signed.yaml: data.clinical_risk.contract_file: nothing is there" in done.stdout
