"""The four hospitals of UCI Heart Disease, read in place."""

from typing import Any

import pytest

from support.public_data import data_folder, needs_data
from wardround.workloads.clinical_risk.contract import Contract
from wardround.workloads.clinical_risk.settings import ClinicalRiskSiteSettings
from wardround.workloads.clinical_risk.table import Table, read_table

NAMES = [
    "age",
    "sex",
    "cp",
    "trestbps",
    "chol",
    "fbs",
    "restecg",
    "thalach",
    "exang",
    "oldpeak",
    "slope",
    "ca",
    "thal",
    "num",
]
CONTRACT: dict[str, Any] = {
    "patient": "a row",
    "index_date": "the visit",
    "outcome": {"name": "disease", "meaning": "num > 0", "horizon_days": None},
    "columns": {
        "chol": {
            "type": "number",
            "meaning": "in serum",
            "unit": "mg/dL",
            "units": {"mmol/L": {"factor": 38.67}},
            "range": [50, 700],
            "missing": [0],
        },
        "ca": {"type": "number", "meaning": "vessels", "unit": "vessels", "range": [0, 3]},
        "sex": {"type": "category", "meaning": "sex", "values": ["female", "male"], "other": False},
    },
}

pytestmark = needs_data("heart_disease")


def _read(hospital: str) -> Table:
    folder = data_folder("heart_disease")
    assert folder is not None
    site = {
        "source": {"kind": "csv", "file": folder / f"processed.{hospital}.data", "header": NAMES},
        "known_at_index": True,
        "columns": {
            "chol": {"column": "chol"},
            "ca": {"column": "ca"},
            "sex": {"column": "sex", "codes": {"0": "female", "1": "male"}},
        },
        "outcome": {"column": "num", "codes": {"0": "no", **{str(grade): "yes" for grade in range(1, 5)}}},
    }
    return read_table(Contract.model_validate(CONTRACT), ClinicalRiskSiteSettings.model_validate(site))


@pytest.mark.parametrize(
    ("hospital", "rows", "positive", "without_chol", "without_ca"),
    [
        ("cleveland", 303, 139, 0, 4),
        ("hungarian", 294, 106, 23, 291),
        ("switzerland", 123, 115, 123, 118),
        ("va", 200, 149, 56, 198),
    ],
)
def test_counts_of_a_hospital(hospital: str, rows: int, positive: int, without_chol: int, without_ca: int) -> None:
    table = _read(hospital)
    assert (len(table.outcome), int(table.outcome.sum())) == (rows, positive)
    assert table.frame["chol"].null_count() == without_chol
    assert table.frame["ca"].null_count() == without_ca
    assert table.frame["sex"].null_count() == 0  # 1.0 at one hospital, 1 at another
    assert table.findings.warnings == []
    assert table.findings.errors == []
    assert [f"{note.where.column}: {note.found}" for note in table.findings.notes] == (
        ["chol: chol is missing in all 123 rows"] if hospital == "switzerland" else []
    )
