"""Writes generated hospitals to disk: one table each, and the site.yaml that maps it to the contract."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from wardround.workloads.clinical_risk.synth.coding import CODINGS, TIMES, UNIT, Coding
from wardround.workloads.clinical_risk.synth.gaps import SHARES, draw_gaps
from wardround.workloads.clinical_risk.synth.hospitals import (
    DEFAULT_KNOBS,
    EVALUATE_ONLY,
    Hospital,
    Knobs,
    choose_hospitals,
)
from wardround.workloads.clinical_risk.synth.outcome import draw_outcomes
from wardround.workloads.clinical_risk.synth.stays import Stays, draw_stays
from wardround.workloads.clinical_risk.synth.timeline import Timeline, draw_timeline

OUTCOME = "readmitted"
TABLE = "stays.csv"
OnHospital = Callable[[str, int, int], None]


def write_hospitals(
    out: Path,
    *,
    hospitals: int = 4,
    rows: int = 2000,
    seed: int = 0,
    knobs: Knobs = DEFAULT_KNOBS,
    on_hospital: OnHospital | None = None,
) -> list[Path]:
    """Writes `hospitals` folders under `out`, each with data/stays.csv and site.yaml; same arguments, same bytes.

    Args:
        out: made if it is not there; other files in it are left alone.
        hospitals: how many, 1 to 26; the fourth has the role evaluate.
        rows: stays a hospital.
        seed: decides every value, together with the hospital's name.
        knobs: how far the hospitals differ.
        on_hospital: called after each with its name, hospitals written and hospitals to write in all.

    Returns:
        The site.yaml files, in the hospitals' order.
    """
    chosen = choose_hospitals(hospitals, seed=seed, knobs=knobs)
    files = []
    for number, hospital in enumerate(chosen, start=1):
        _write_table(out / hospital.name / "data" / TABLE, hospital, rows, seed)
        files.append(_write_site(out / hospital.name, hospital))
        if on_hospital is not None:
            on_hospital(hospital.name, number, len(chosen))
    return files


def site_section(coding: Coding) -> dict[str, Any]:
    """The `clinical_risk` section of site.yaml for a table in this coding."""
    source: dict[str, Any] = {"kind": "csv", "file": f"data/{TABLE}"}
    if coding.separator != ",":
        source["separator"] = coding.separator
    if coding.decimal != ".":
        source["decimal"] = coding.decimal
    if coding.byte_order_mark:
        source["encoding"] = "utf-8-sig"
    columns: dict[str, Any] = {}
    for column in _inputs():
        mapping: dict[str, Any] = {"column": coding.name(column)}
        if column in coding.units:
            mapping["unit"] = coding.units[column].name
        if column in coding.codes:
            mapping["codes"] = {code: value for value, code in coding.codes[column].items()}
        if column in SHARES and coding.missing not in ("", "?"):  # which the contract knows
            mapping["missing"] = [coding.missing]
        if column in TIMES:
            mapping["time"] = coding.name(TIMES[column])
        columns[column] = mapping
    outcome: dict[str, Any] = {"column": coding.name(OUTCOME)}
    if OUTCOME in coding.codes:
        outcome["codes"] = {code: value for value, code in coding.codes[OUTCOME].items()}
    return {
        "source": source,
        "patient": coding.name("patient"),
        "row_id": coding.name("stay"),
        "index_date": coding.name("discharge_date"),
        "known_at_index": True,  # what has no time is from the admission or the discharge itself
        "columns": columns,
        "outcome": outcome,
    }


def _inputs() -> list[str]:
    """The contract's inputs, in the order of the written tables."""
    return [
        *("age", "sex", "prior_admissions", "length_of_stay", "admission_type"),
        *("creatinine", "hemoglobin", "sodium", "glucose", "hba1c", "systolic_pressure"),
        *("medications", "heart_failure", "discharge_to", "insurance"),
    ]


def _write_table(file: Path, hospital: Hospital, rows: int, seed: int) -> None:
    stays = draw_stays(hospital, rows, seed)
    outcomes = draw_outcomes(hospital, stays, seed)
    timeline = draw_timeline(hospital, stays, outcomes, seed)
    coding = CODINGS[hospital.coding]
    written = {
        **_identities(hospital, stays, timeline),
        **_coded(coding, stays, draw_gaps(hospital, stays.columns, seed)),
        OUTCOME: [coding.code(OUTCOME, "yes" if value else "no") for value in outcomes],
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    encoding = "utf-8-sig" if coding.byte_order_mark else "utf-8"
    with file.open("w", encoding=encoding, newline="") as stream:
        table = csv.writer(stream, delimiter=coding.separator, lineterminator="\n")
        table.writerow([coding.name(column) for column in written])
        table.writerows(zip(*written.values(), strict=True))


def _identities(hospital: Hospital, stays: Stays, timeline: Timeline) -> dict[str, list[str]]:
    letter = hospital.name[-1].upper()
    patients = [f"{letter}{number + 1:06d}" for number in stays.patients]
    return {
        "patient": patients,
        "stay": [f"{patient}-{place + 1}" for patient, place in zip(patients, stays.places, strict=True)],
        "discharge_date": timeline.discharge.astype(str).tolist(),
        "laboratory_date": timeline.laboratory.astype(str).tolist(),
        "pressure_date": timeline.pressure.astype(str).tolist(),
    }


def _coded(coding: Coding, stays: Stays, gaps: dict[str, np.ndarray]) -> dict[str, list[str]]:
    written = {}
    for column in _inputs():
        write = coding.number if column in UNIT else coding.code
        missing = gaps.get(column, np.zeros(len(stays.patients), bool))
        written[column] = [
            coding.missing if empty else write(column, value)
            for value, empty in zip(stays.columns[column].tolist(), missing, strict=True)
        ]
    return written


def _write_site(folder: Path, hospital: Hospital) -> Path:
    site = {
        "name": hospital.name,
        "role": "evaluate" if hospital.name == EVALUATE_ONLY else "train",
        "synthetic": True,
        "state_folder": "state",
        "cache_folder": "cache",
        "data": {"clinical_risk": site_section(CODINGS[hospital.coding])},
    }
    file = folder / "site.yaml"
    file.write_text(yaml.safe_dump(site, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return file
