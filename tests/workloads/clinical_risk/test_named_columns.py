from pathlib import Path

import polars as pl
import pytest

from support.small_tables import (
    HEADER,
    ROWS,
    SITE,
    contract,
    csv_site,
    same,
    site,
)
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.clinical_risk.table import read_table


def test_order_of_columns_and_further_columns_do_not_matter(tmp_path: Path) -> None:
    plain = read_table(contract(), csv_site(tmp_path, *ROWS))
    turned = [",".join([*reversed(row.split(",")), "x"]) for row in ROWS]
    header = ",".join([*reversed(HEADER.split(",")), "note"])
    same(plain, read_table(contract(), csv_site(tmp_path, *turned, header=header)))


def test_a_column_that_is_not_there_is_named_with_those_that_look_like_it(tmp_path: Path) -> None:
    told = (
        r"columns\.cholesterol\.column: no column 'chol' in table\.csv \(did you mean Chole\?\); name the column that"
    )
    with pytest.raises(WardroundError, match=told) as caught:
        read_table(contract(), csv_site(tmp_path, *ROWS, header=HEADER.replace("chol", "Chole")))
    assert caught.value.code == Reason.COLUMN_MISSING
    assert "the table has visit, pid, age, Chole, sex" in str(caught.value)


def test_names_of_columns_may_look_like_patterns(tmp_path: Path) -> None:
    plain = read_table(contract(), csv_site(tmp_path, *ROWS))
    odd = {"age": "^age$", "chol": "*", "visit": "^.*$", "pid": "^p", "ward": "^w.*$", "readmit": "^r$"}
    columns = {
        name: {**mapping, "column": odd.get(mapping["column"], mapping["column"])}
        for name, mapping in SITE["columns"].items()
    }
    changes = {"columns": columns, "row_id": "^.*$", "patient": "^p", "rows": {"^w.*$": ["MED", "SURG"]}}
    changes["outcome"] = {**SITE["outcome"], "column": "^r$"}
    frame = pl.read_csv(tmp_path / "table.csv", null_values=["?"]).rename(odd)
    frame.with_columns(age=pl.lit(1.0), visit=pl.lit("v")).write_parquet(tmp_path / "t.parquet")
    made = site({"kind": "parquet", "file": tmp_path / "t.parquet"}, **changes)
    same(plain, read_table(contract(), made))
    header = ",".join(odd.get(name, name) for name in HEADER.split(","))
    same(plain, read_table(contract(), csv_site(tmp_path, *ROWS, header=header, **changes)))


def test_a_name_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WardroundError, match="column age: is there twice"):
        read_table(contract(), csv_site(tmp_path, *ROWS, header=HEADER.replace("chol", "age")))


def test_the_outcome_cannot_be_an_input(tmp_path: Path) -> None:
    columns = {**SITE["columns"], "age": {"column": "readmit"}}
    with pytest.raises(WardroundError, match="which would predict itself"):
        read_table(contract(), csv_site(tmp_path, *ROWS, columns=columns))


def test_the_patient_column_is_neither_outcome_nor_input(tmp_path: Path) -> None:
    with pytest.raises(WardroundError, match="patient: readmit is the outcome's column"):
        read_table(contract(), csv_site(tmp_path, *ROWS, patient="readmit"))
    with pytest.raises(WardroundError, match=r"columns\.age\.column: age is the patient's id"):
        read_table(contract(), csv_site(tmp_path, *ROWS, patient="age"))


def test_a_column_that_the_hospital_lacks_is_missing_in_every_row_and_remarked(tmp_path: Path) -> None:
    rows = ["v1,p1,63.5,233,1,0", "v2,p2,67,286.5,0,1"]
    columns = {**SITE["columns"], "cholesterol": None, "ward": None}
    table = read_table(contract(), csv_site(tmp_path, *rows, header="visit,pid,age,chol,sex,readmit", columns=columns))
    assert table.frame.schema == {"age": pl.Float64, "cholesterol": pl.Float64, "sex": pl.String, "ward": pl.String}
    assert table.frame["cholesterol"].to_list() == table.frame["ward"].to_list() == [None, None]
    assert table.frame["age"].to_list() == [63.5, 67.0]
    assert [remark.kind for remark in table.findings.notes] == [Reason.COLUMN_CONSTANT] * 2
    assert "cholesterol is declared absent (columns.cholesterol: null" in str(table.findings.notes[0])
    assert (table.findings.warnings, table.findings.errors) == ([], [])


def test_an_absent_column_needs_no_declaration_of_when_it_was_known(tmp_path: Path) -> None:
    known = {name: {**mapping, "known_at_index": True} for name, mapping in SITE["columns"].items()}
    columns = {**known, "ward": None}
    table = read_table(contract(), csv_site(tmp_path, *ROWS, columns=columns, known_at_index=False))
    assert table.frame["ward"].null_count() == len(ROWS)


def test_a_hospital_that_lacks_every_column_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WardroundError, match="columns: all are null") as caught:
        read_table(contract(), csv_site(tmp_path, *ROWS, columns=dict.fromkeys(SITE["columns"])))
    assert caught.value.code == Reason.COLUMN_MISSING
