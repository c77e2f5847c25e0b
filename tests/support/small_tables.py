"""A small contract, and tables that a hospital could have for it."""

from pathlib import Path
from typing import Any

from wardround.workloads.clinical_risk.contract import Contract
from wardround.workloads.clinical_risk.settings import ClinicalRiskSiteSettings
from wardround.workloads.clinical_risk.table import Table

CONTRACT: dict[str, Any] = {
    "patient": "record number",
    "index_date": "day of admission",
    "outcome": {"name": "readmitted", "meaning": "within 30 days", "horizon_days": 30},
    "columns": {
        "age": {"type": "number", "meaning": "at admission", "unit": "years", "range": [18, 110]},
        "cholesterol": {
            "type": "number",
            "meaning": "in serum",
            "unit": "mg/dL",
            "units": {"mmol/L": {"factor": 38.67}},
            "range": [50, 700],
            "missing": [0],
        },
        "sex": {"type": "category", "meaning": "as registered", "values": ["female", "male"], "other": False},
        "ward": {"type": "category", "meaning": "where admitted", "values": ["medicine", "surgery"]},
    },
}
SITE: dict[str, Any] = {
    "patient": "pid",
    "row_id": "visit",
    "known_at_index": True,
    "columns": {
        "age": {"column": "age"},
        "cholesterol": {"column": "chol"},
        "sex": {"column": "sex", "codes": {"1": "male", "0": "female"}},
        "ward": {"column": "ward", "codes": {"MED": "medicine", "SURG": "surgery"}},
    },
    "outcome": {"column": "readmit", "codes": {"1": "yes", "0": "no"}},
}
HEADER = "visit,pid,age,chol,sex,ward,readmit"
ROWS = (
    "v1,p1,63.5,233,1,MED,0",
    "v2,p2,67,286.5,0,SURG,1",
    "v3,p2,67,?,1,MED,1",
    "v4,p3,41,0,0,MED,0",
    "v5,p4,56,236,1,SURG,0",
)


def contract(**changes: Any) -> Contract:
    """The contract with some keys replaced."""
    return Contract.model_validate({**CONTRACT, **changes})


def contract_with(column: str, **changes: Any) -> Contract:
    """The contract with one column changed."""
    columns = {**CONTRACT["columns"], column: {**CONTRACT["columns"][column], **changes}}
    return contract(columns=columns)


def site(source: dict[str, Any], **changes: Any) -> ClinicalRiskSiteSettings:
    """The site's section with some keys replaced."""
    return ClinicalRiskSiteSettings.model_validate({**SITE, "source": source, **changes})


def site_with(file: Path, column: str, **changes: Any) -> ClinicalRiskSiteSettings:
    """The site's section for a CSV file, with one column's mapping changed."""
    columns = {**SITE["columns"], column: {**SITE["columns"][column], **changes}}
    return site({"kind": "csv", "file": file}, columns=columns)


def write(folder: Path, *rows: str, header: str = HEADER) -> Path:
    """A CSV file."""
    file = folder / "table.csv"
    file.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return file


def csv_site(folder: Path, *rows: str, header: str = HEADER, **changes: Any) -> ClinicalRiskSiteSettings:
    """The site's section for a CSV file of these rows."""
    return site({"kind": "csv", "file": write(folder, *rows, header=header)}, **changes)


def same(one: Table, other: Table) -> None:
    """Both hold the same rows."""
    assert one.frame.equals(other.frame)
    assert one.frame.columns == list(CONTRACT["columns"])
    assert one.outcome.tolist() == other.outcome.tolist()
    assert (one.patients, one.row_ids) == (other.patients, other.row_ids)
    assert one.rows.tolist() == other.rows.tolist()
