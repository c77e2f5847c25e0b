"""Everything that site.yaml, the contract and a table's header tell, at once."""

import sqlite3
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from support.small_tables import HEADER, ROWS, SITE, contract, site, write
from wardround.records.inspection import Finding
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.clinical_risk.table import read_table

GERMAN = HEADER.replace("age", "Lebensjahre").replace("chol", "Blutfett")


def _refused(source: dict[str, Any], **changes: Any) -> list[tuple[Reason, str]]:
    """Kinds and places of what a section is refused for, with no column declared."""
    with pytest.raises(WardroundError) as caught:
        read_table(contract(), site(source, known_at_index=False, **changes))
    told = [one for one in caught.value.faults if isinstance(one, Finding)]
    assert caught.value.code == told[0].kind
    return [(one.kind, one.where.key or one.where.file) for one in told]


def test_a_file_that_is_not_there_is_told_before_what_is_not_declared(tmp_path: Path) -> None:
    for kind in ("csv", "parquet"):
        file = tmp_path / f"stays.{kind}"
        assert _refused({"kind": kind, "file": file}) == [
            (Reason.DATA_MISSING, str(file)),
            (Reason.KNOWN_TOO_LATE, "columns"),
        ]


def test_columns_that_the_header_lacks_are_told_with_what_is_not_declared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [
        (Reason.COLUMN_MISSING, "columns.age.column"),
        (Reason.COLUMN_MISSING, "columns.cholesterol.column"),
        (Reason.KNOWN_TOO_LATE, "columns"),
    ]
    file = write(tmp_path, *ROWS, header=GERMAN)
    assert _refused({"kind": "csv", "file": file}) == expected

    pl.read_csv(file).write_parquet(tmp_path / "t.parquet")
    assert _refused({"kind": "parquet", "file": tmp_path / "t.parquet"}) == expected

    with sqlite3.connect(tmp_path / "t.db") as database:
        database.execute(f"create table stays ({GERMAN})")
    monkeypatch.setenv("DATABASE", f"sqlite:///{tmp_path / 't.db'}")
    assert _refused({"kind": "sql", "query": "select * from stays", "url_variable": "DATABASE"}) == expected


def test_all_that_does_not_fit_the_contract_is_told_at_once(tmp_path: Path) -> None:
    columns = {**SITE["columns"], "cholesterol": {"column": "chol", "unit": "furlong"}}
    del columns["sex"]
    assert _refused({"kind": "csv", "file": write(tmp_path, *ROWS)}, columns=columns) == [
        (Reason.COLUMN_MISSING, "columns.sex"),
        (Reason.CONFIGURATION_INVALID, "columns.cholesterol.unit"),
        (Reason.KNOWN_TOO_LATE, "columns"),
    ]
