"""What is written: the same bytes for the same seed, tables that their site.yaml explains, dates that agree."""

import csv
import hashlib
from collections import defaultdict
from dataclasses import replace
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from wardround.records.schema_faults import validated
from wardround.records.study import load_study
from wardround.workloads.clinical_risk.contract import Contract
from wardround.workloads.clinical_risk.settings import ClinicalRiskSettings, ClinicalRiskSiteSettings
from wardround.workloads.clinical_risk.synth.coding import CODINGS, UNIT
from wardround.workloads.clinical_risk.synth.hospitals import ALIKE
from wardround.workloads.clinical_risk.synth.writer import write_hospitals

ROOT = Path(__file__).parents[4]
ROWS = 300


def _digest(folder: Path) -> str:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    content = [str(file.relative_to(folder)).encode() + file.read_bytes() for file in files]
    return hashlib.sha256(b"".join(content)).hexdigest()


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("written")
    write_hospitals(out, hospitals=5, rows=ROWS, seed=3)
    return out


@pytest.fixture(scope="module")
def contract() -> Contract:
    settings = load_study(ROOT / "jobs" / "clinical_risk").workload
    return ClinicalRiskSettings.model_validate({key: settings[key] for key in settings if key != "kind"}).contract


def _site(folder: Path) -> tuple[dict[str, Any], ClinicalRiskSiteSettings]:
    site = yaml.safe_load((folder / "site.yaml").read_text(encoding="utf-8"))
    return site, validated(ClinicalRiskSiteSettings, site["data"]["clinical_risk"], str(folder))


def _rows(folder: Path) -> list[dict[str, str]]:
    source = _site(folder)[1].source
    with (folder / "data" / "stays.csv").open(encoding=source.encoding, newline="") as stream:
        return list(csv.DictReader(stream, delimiter=source.separator))


def test_same_seed_same_bytes_another_seed_others(written: Path, tmp_path: Path) -> None:
    for name, seed in (("same", 3), ("other", 4)):
        write_hospitals(tmp_path / name, hospitals=5, rows=ROWS, seed=seed)
    assert _digest(tmp_path / "same") == _digest(written)
    assert _digest(tmp_path / "other") != _digest(written)


def test_sites_map_every_column_of_the_contract_and_the_fourth_only_evaluates(
    written: Path, contract: Contract
) -> None:
    roles = {}
    for folder in sorted(written.iterdir()):
        site, settings = _site(folder)
        roles[site["name"]] = site["role"]
        assert site["synthetic"] is True
        assert list(settings.columns) == list(contract.columns)
        rows = _rows(folder)
        assert len(rows) == ROWS
        for column, mapping in settings.columns.items():
            assert mapping.column in rows[0], (folder.name, column)
            assert mapping.time is None or mapping.time in rows[0]
            wanted = contract.columns[column]
            if wanted.type == "number":
                assert mapping.unit in {None, wanted.unit, *wanted.units}
            else:
                values = {mapping.codes.get(row[mapping.column], row[mapping.column]) for row in rows}
                assert values <= {*wanted.values, *mapping.missing, *contract.missing}, (folder.name, column)
    trains = dict.fromkeys(("hospital-a", "hospital-b", "hospital-c", "hospital-e"), "train")
    assert roles == {**trains, "hospital-d": "evaluate"}


def test_contract_turns_every_hospitals_unit_back(contract: Contract) -> None:
    assert {name: column.unit for name, column in contract.columns.items() if column.type == "number"} == UNIT
    for coding in CODINGS.values():
        for column, unit in coding.units.items():
            conversion = contract.columns[column].units[unit.name]
            for value in (8.0, 80.0):
                there = value * unit.factor + unit.offset
                assert there * conversion.factor + conversion.offset == pytest.approx(value, rel=0.005), column


def test_every_value_lies_in_the_contracts_range(written: Path, contract: Contract) -> None:
    for row in _rows(written / "hospital-a"):
        for name, column in contract.columns.items():
            if column.type == "number" and row[name] not in contract.missing:
                assert column.range[0] <= float(row[name]) <= column.range[1], name


def test_schema_shift_writes_the_same_facts_otherwise(tmp_path: Path) -> None:
    write_hospitals(tmp_path / "plain", rows=50, seed=1, knobs=ALIKE)
    write_hospitals(tmp_path / "coded", rows=50, seed=1, knobs=replace(ALIKE, schema=True))
    raw = (tmp_path / "coded" / "hospital-b" / "data" / "stays.csv").read_bytes()
    assert raw.startswith(b"\xef\xbb\xbfPatientenNr;")
    assert b"k.A." in raw
    plain, coded = (_rows(tmp_path / name / "hospital-b") for name in ("plain", "coded"))
    settings = _site(tmp_path / "coded" / "hospital-b")[1]
    names = settings.columns
    for one, other in zip(plain, coded, strict=True):
        assert other[names["age"].column] == one["age"]
        assert names["sex"].codes[other[names["sex"].column]] == one["sex"]
        assert settings.outcome.codes[other[settings.outcome.column]] == one["readmitted"]
        if one["creatinine"]:
            assert float(other["Kreatinin"].replace(",", ".")) * 88.42 == pytest.approx(float(one["creatinine"]), abs=1)
        else:
            assert other["Kreatinin"] == "k.A."
    assert (tmp_path / "coded" / "hospital-a" / "data" / "stays.csv").read_bytes() == (
        tmp_path / "plain" / "hospital-a" / "data" / "stays.csv"
    ).read_bytes()


def test_dates_agree_with_the_outcome_and_no_value_is_from_after_the_index_date(written: Path) -> None:
    by_patient = defaultdict(list)
    for row in _rows(written / "hospital-a"):
        by_patient[row["patient"]].append(row)
        assert row["laboratory_date"] <= row["discharge_date"]
        assert row["pressure_date"] <= row["discharge_date"]
    pairs = [pair for rows in by_patient.values() for pair in pairwise(rows)]
    assert len(pairs) > 30  # several rows for some patients
    for before, after in pairs:
        nights = int(after["length_of_stay"])
        away = (
            date.fromisoformat(after["discharge_date"]) - date.fromisoformat(before["discharge_date"])
        ).days - nights
        assert (1 <= away <= 30) is (before["readmitted"] == "yes")


def test_stays_are_numbered_once(written: Path) -> None:
    stays = [row["stay"] for row in _rows(written / "hospital-a")]
    assert len(set(stays)) == ROWS


def test_progress_is_told_hospital_by_hospital(tmp_path: Path) -> None:
    calls: list[tuple[str, int, int]] = []
    write_hospitals(tmp_path, hospitals=2, rows=5, on_hospital=lambda *call: calls.append(call))
    assert calls == [("hospital-a", 1, 2), ("hospital-b", 2, 2)]
