from pathlib import Path
from typing import Any

import polars as pl
import pytest

from support.small_tables import (
    HEADER,
    ROWS,
    SITE,
    contract,
    contract_with,
    csv_site,
    same,
    site,
    site_with,
    write,
)
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.clinical_risk.table import read_table


def test_a_table_has_the_contracts_columns_in_its_order(tmp_path: Path) -> None:
    table = read_table(contract(), csv_site(tmp_path, *ROWS))
    assert table.frame.to_dict(as_series=False) == {
        "age": [63.5, 67.0, 67.0, 41.0, 56.0],
        "cholesterol": [233.0, 286.5, None, None, 236.0],
        "sex": ["male", "female", "male", "female", "male"],
        "ward": ["medicine", "surgery", "medicine", "medicine", "surgery"],
    }
    assert table.outcome.tolist() == [0, 1, 1, 0, 0]
    assert table.patients == ["p1", "p2", "p2", "p3", "p4"]
    assert table.rows.tolist() == [1, 2, 3, 4, 5]
    assert table.row_ids == ["v1", "v2", "v3", "v4", "v5"]
    assert (table.findings.warnings, table.findings.errors, table.findings.notes) == ([], [], [])


def test_an_unparseable_value_is_missing_and_told_with_row_and_column(tmp_path: Path) -> None:
    table = read_table(contract(), csv_site(tmp_path, *ROWS, "v6,p6,about 50,200,1,MED,0"))
    assert table.frame["age"][5] is None
    assert [problem.kind for problem in table.findings.warnings] == [Reason.VALUE_INVALID]
    assert str(table.findings.warnings[0]) == (
        "table.csv, row 6, column age: age is 'about 50', expected a number; taken as missing; correct it, or see "
        "columns.age.unit, .codes and .missing of site.yaml"
    )
    assert table.findings.errors == []


def test_a_value_outside_the_range_is_missing(tmp_path: Path) -> None:
    table = read_table(contract(), csv_site(tmp_path, *ROWS, "v6,p6,150,200,1,MED,0"))
    assert table.frame["age"][5] is None
    assert [problem.kind for problem in table.findings.warnings] == [Reason.VALUE_IMPLAUSIBLE]
    assert "row 6, column age: age is 150 years, expected 18 to 110 years" in str(table.findings.warnings[0])


def test_the_wrong_unit_raises_a_doubt_that_names_the_right_one(tmp_path: Path) -> None:
    rows = [f"v{i},p{i},60,{5 + i / 10},1,MED,{i % 2}" for i in range(12)]
    wrong = read_table(contract(), csv_site(tmp_path, *rows))
    assert [doubt.kind for doubt in wrong.findings.errors] == [Reason.VALUE_IMPLAUSIBLE]
    assert "12 of 12 values of cholesterol" in str(wrong.findings.errors[0])
    assert "they would be plausible in mmol/L" in str(wrong.findings.errors[0])
    assert [warning.where.row for warning in wrong.findings.warnings] == list(range(1, 13))
    right = read_table(contract(), site_with(write(tmp_path, *rows), "cholesterol", unit="mmol/L"))
    assert right.findings.errors == []
    assert right.frame["cholesterol"][0] == pytest.approx(5 * 38.67)


def test_the_wrong_decimal_sign_raises_a_doubt_that_names_the_right_one(tmp_path: Path) -> None:
    commas = [f'v{i},p{i},60,"{200 + i},5",1,MED,{i % 2}' for i in range(12)]
    doubt = str(read_table(contract(), csv_site(tmp_path, *commas)).findings.errors[0])
    assert 'they have a decimal comma, which a text file declares with source.decimal: ","' in doubt
    mixed = [*commas[:6], *(f"v{i},p{i},60,high,1,MED,{i % 2}" for i in range(6, 12))]
    assert "decimal" not in str(read_table(contract(), csv_site(tmp_path, *mixed)).findings.errors[0])


def test_an_unknown_category_is_a_problem_where_the_contract_has_no_bucket(tmp_path: Path) -> None:
    table = read_table(contract(), csv_site(tmp_path, *ROWS, "v6,p6,50,200,X,MED,0"))
    assert table.frame["sex"][5] is None
    assert "row 6, column sex: sex is 'X', expected one of 1, 0, female, male" in str(table.findings.warnings[0])


def test_an_unknown_category_goes_to_the_bucket_and_is_counted(tmp_path: Path) -> None:
    rows = (*ROWS, "v6,p6,50,200,1,ICU,0", "v7,p7,50,200,0,ICU,0")
    table = read_table(contract(), csv_site(tmp_path, *rows))
    assert table.frame["ward"].to_list()[5:] == ["other", "other"]
    assert table.findings.warnings == []
    assert [remark.kind for remark in table.findings.notes] == [Reason.CATEGORY_UNSEEN]
    assert "2 values of ward" in str(table.findings.notes[0])
    assert "ICU (2)" in str(table.findings.notes[0])


def test_codes_that_nobody_mapped_at_all_raise_a_doubt(tmp_path: Path) -> None:
    table = read_table(contract(), site_with(write(tmp_path, *ROWS), "ward", codes={}))
    assert "none of 5 values of ward" in str(table.findings.errors[0])


def test_a_duplicated_row_is_left_out(tmp_path: Path) -> None:
    table = read_table(contract(), csv_site(tmp_path, *ROWS, "v2,p9,30,200,1,MED,0"))
    assert table.rows.tolist() == [1, 2, 3, 4, 5]
    assert [problem.kind for problem in table.findings.warnings] == [Reason.CASE_DUPLICATED]
    assert "row 6, column visit: id v2 is that of row 2" in str(table.findings.warnings[0])
    assert [doubt.kind for doubt in table.findings.errors] == [Reason.CASE_DUPLICATED]
    assert "column visit: 1 of 6 rows have the id of an earlier one and are left out" in str(table.findings.errors[0])


def test_rows_without_an_id_go_by_their_number_and_raise_a_doubt(tmp_path: Path) -> None:
    rows = (*ROWS, ",p6,50,200,1,MED,0", "?,p7,50,200,1,MED,0", "NA,p8,50,200,1,MED,1")
    table = read_table(contract(), csv_site(tmp_path, *rows))
    assert table.row_ids == ["v1", "v2", "v3", "v4", "v5", "row 6", "row 7", "row 8"]
    assert table.findings.warnings == []
    assert [doubt.kind for doubt in table.findings.errors] == [Reason.DATA_MISSING]
    assert "column visit: 3 of 8 rows have no id and go by their number" in str(table.findings.errors[0])


@pytest.mark.parametrize(
    ("row", "code", "told"),
    [
        ("v6,,50,200,1,MED,0", Reason.DATA_MISSING, "row 6, column pid: no patient id"),
        ("v6,?,50,200,1,MED,0", Reason.DATA_MISSING, "row 6, column pid: no patient id"),
        ("v6,p6,50,200,1,MED,", Reason.OUTCOME_MISSING, "row 6, column readmit: no outcome"),
        ("v6,p6,50,200,1,MED,2", Reason.VALUE_INVALID, "row 6, column readmit: outcome '2', expected one of"),
    ],
)
def test_a_row_without_patient_or_outcome_is_left_out(tmp_path: Path, row: str, code: Reason, told: str) -> None:
    table = read_table(contract(), csv_site(tmp_path, *ROWS, row))
    assert len(table.outcome) == table.frame.height == len(table.patients) == 5
    assert [problem.kind for problem in table.findings.warnings] == [code]
    assert told in str(table.findings.warnings[0])


def test_no_usable_row_is_refused_with_what_was_left_out(tmp_path: Path) -> None:
    with pytest.raises(WardroundError, match="no row is usable") as caught:
        read_table(contract(), csv_site(tmp_path, "v1,p1,50,200,1,MED,"))
    assert "no outcome" in str(caught.value)


def test_rows_without_a_label_are_read_to_predict_for(tmp_path: Path) -> None:
    header = HEADER.removesuffix(",readmit")
    rows = [row.rsplit(",", 1)[0] for row in ROWS]
    table = read_table(contract(), csv_site(tmp_path, *rows, header=header), labelled=False)
    assert table.frame.height == 5
    assert table.outcome.tolist() == []


def test_a_column_without_a_value_or_with_one_alone_is_a_remark(tmp_path: Path) -> None:
    rows = [f"v{i},p{i},60,,1,MED,{i % 2}" for i in range(4)]
    table = read_table(contract(), csv_site(tmp_path, *rows))
    assert {remark.kind for remark in table.findings.notes} == {Reason.COLUMN_CONSTANT}
    told = [(note.where.column, note.found) for note in table.findings.notes]
    assert ("chol", "cholesterol is missing in all 4 rows") in told
    assert ("age", "age is 60.0 in all 4 rows") in told
    assert table.findings.errors == []


def test_codes_for_missing_of_contract_column_and_site(tmp_path: Path) -> None:
    rows = ["v1,p1,?,0.0,9,MED,0", "v2,p2,NA,-9,0,unknown,1", "v3,p3,50,180,1,SURG,1"]
    columns = {
        **SITE["columns"],
        "cholesterol": {"column": "chol", "missing": ["-9"]},
        "sex": {**SITE["columns"]["sex"], "missing": ["9"]},
        "ward": {"column": "ward", "codes": {"MED": "medicine", "SURG": "surgery", "unknown": "missing"}},
    }
    table = read_table(contract(), csv_site(tmp_path, *rows, columns=columns))
    assert table.findings.warnings == []
    assert table.frame.null_count().row(0) == (2, 2, 1, 1)


def test_codes_of_a_number_stand_for_numbers(tmp_path: Path) -> None:
    rows = ["v1,p1,[60-70),200,1,MED,0", "v2,p2,[70-80),200,0,MED,1"]
    made = site_with(write(tmp_path, *rows), "age", codes={"[60-70)": "65", "[70-80)": "75"})
    assert read_table(contract(), made).frame["age"].to_list() == [65.0, 75.0]


def test_rows_of_a_shared_file(tmp_path: Path) -> None:
    made = csv_site(tmp_path, *ROWS, rows={"ward": ["SURG"]})
    table = read_table(contract(), made)
    assert table.rows.tolist() == [2, 5]
    with pytest.raises(WardroundError, match="no row has ICU in column ward"):
        read_table(contract(), csv_site(tmp_path, *ROWS, rows={"ward": ["ICU"]}))


def test_a_patients_first_row_is_the_earliest(tmp_path: Path) -> None:
    first = contract(rows_per_patient="first")
    by_row = read_table(first, csv_site(tmp_path, ROWS[1], ROWS[0], ROWS[2], row_id=None))
    assert by_row.rows.tolist() == [1, 2]
    by_id = read_table(first, csv_site(tmp_path, ROWS[2], ROWS[1]))
    assert by_id.row_ids == ["v2"]
    dated = [f"{ROWS[1]},2024-03-02", f"{ROWS[2]},2024-03-01T09:00"]
    by_date = read_table(first, csv_site(tmp_path, *dated, header=HEADER + ",day", index_date="day"))
    assert by_date.row_ids == ["v3"]
    assert "1 rows left out" in str(by_date.findings.notes[0])


def test_a_row_id_of_digits_is_ordered_as_a_number(tmp_path: Path) -> None:
    rows = ["10,p1,50,200,1,MED,0", "9,p1,49,200,1,MED,0"]
    table = read_table(contract(rows_per_patient="first"), csv_site(tmp_path, *rows))
    assert table.row_ids == ["9"]


def test_a_given_split_is_passed_on(tmp_path: Path) -> None:
    rows = [f"{row},{split}" for row, split in zip(ROWS, ["train", "test", "test", "", "train"], strict=True)]
    table = read_table(contract(), csv_site(tmp_path, *rows, header=HEADER + ",part", split_column="part"))
    assert table.given_split == ["train", "test", "test", "", "train"]
    unknown = [f"{row},{split}" for row, split in zip(ROWS, ["train", "?", "NA", " ", "train"], strict=True)]
    table = read_table(contract(), csv_site(tmp_path, *unknown, header=HEADER + ",part", split_column="part"))
    assert table.given_split == ["train", "", "", "", "train"]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"columns": {key: SITE["columns"][key] for key in ("age", "sex", "ward")}}, r"columns\.cholesterol: missing"),
        ({"columns": {**SITE["columns"], "bmi": {"column": "bmi"}}}, r"columns\.bmi: the contract has no such column"),
        (
            {"columns": {**SITE["columns"], "age": {"column": "age", "unit": "months"}}},
            r"columns\.age\.unit: 'months' is not accepted; the contract takes years",
        ),
        (
            {"columns": {**SITE["columns"], "sex": {"column": "sex", "codes": {"1": "mal"}}}},
            "which the contract does not have; did you mean male",
        ),
        (
            {"columns": {**SITE["columns"], "sex": {"column": "sex", "unit": "years"}}},
            "categories here, which have no unit",
        ),
        (
            {"columns": {**SITE["columns"], "age": {"column": "age", "codes": {"old": "very"}}}},
            "expected a number in the site's unit",
        ),
        (
            {"columns": {**SITE["columns"], "ward": {"column": "ward", "codes": {"1": "other"}, "missing": ["1.0"]}}},
            "1 is among `codes` and among `missing`",
        ),
        ({"outcome": {"column": "readmit", "codes": {"1": "ja"}}}, r"outcome\.codes: '1' stands for 'ja'"),
    ],
)
def test_a_mapping_that_does_not_fit_is_refused_by_its_key(tmp_path: Path, changes: dict[str, Any], told: str) -> None:
    with pytest.raises(WardroundError, match=told):
        read_table(contract(), csv_site(tmp_path, *ROWS, **changes))


def test_the_same_table_as_csv_parquet_and_sql_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sqlalchemy

    plain = read_table(contract(), csv_site(tmp_path, *ROWS))
    typed = pl.read_csv(tmp_path / "table.csv", null_values=["?"])
    assert typed.schema["chol"].is_float()
    typed.write_parquet(tmp_path / "table.parquet")
    same(plain, read_table(contract(), site({"kind": "parquet", "file": tmp_path / "table.parquet"})))
    url = f"sqlite:///{tmp_path / 'hospital.db'}"
    engine = sqlalchemy.create_engine(url)
    with engine.begin() as connection:
        connection.execute(
            sqlalchemy.text(
                "create table visits (visit text, pid text, age real, chol real, sex int, ward text, r int)"
            )
        )
        for row in typed.rows():
            connection.exec_driver_sql("insert into visits values (?, ?, ?, ?, ?, ?, ?)", row)
    engine.dispose()
    monkeypatch.setenv("HOSPITAL_DB", url)
    query = "select ward, r as readmit, visit, pid, age, chol, sex from visits order by rowid"
    same(plain, read_table(contract(), site({"kind": "sql", "query": query, "url_variable": "HOSPITAL_DB"})))


def test_semicolons_decimal_comma_and_a_byte_order_mark_give_the_same(tmp_path: Path) -> None:
    plain = read_table(contract(), csv_site(tmp_path, *ROWS))
    text = "\r\n".join([HEADER, *ROWS]).replace(",", ";").replace(".", ",")
    file = tmp_path / "german.csv"
    file.write_bytes(b"\xef\xbb\xbf" + text.encode())
    made = site({"kind": "csv", "file": file, "separator": ";", "decimal": ","})
    same(plain, read_table(contract(), made))


def test_a_point_in_a_number_with_decimal_comma_is_no_guess(tmp_path: Path) -> None:
    file = write(tmp_path, *(row.replace(",", ";") for row in ROWS), header=HEADER.replace(",", ";"))
    table = read_table(contract(), site({"kind": "csv", "file": file, "separator": ";", "decimal": ","}))
    assert "age is '63.5', expected a number with decimal comma" in str(table.findings.warnings[0])


def test_a_range_holds_its_ends_after_conversion(tmp_path: Path) -> None:
    asked = contract_with("cholesterol", units={"mmol/L": {"factor": 38.67}}, range=[38.67 * 1.1, 386.7])
    rows = ["v1,p1,50,1.1,1,MED,0", "v2,p2,50,10,0,MED,1"]
    table = read_table(asked, site_with(write(tmp_path, *rows), "cholesterol", unit="mmol/L"))
    assert table.findings.warnings == []
    assert table.frame["cholesterol"].is_between(*asked.columns["cholesterol"].range).all()  # type: ignore[union-attr]
