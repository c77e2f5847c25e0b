from pathlib import Path
from typing import Any

import polars as pl
import pytest

from support.small_tables import CONTRACT, HEADER, ROWS, SITE, contract, contract_with, csv_site, site, site_with, write
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.clinical_risk.table import Table, read_table


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
    assert (table.problems, table.doubts, table.remarks) == ([], [], [])


def test_order_of_columns_and_further_columns_do_not_matter(tmp_path: Path) -> None:
    plain = read_table(contract(), csv_site(tmp_path, *ROWS))
    turned = [",".join([*reversed(row.split(",")), "x"]) for row in ROWS]
    header = ",".join([*reversed(HEADER.split(",")), "note"])
    _same(plain, read_table(contract(), csv_site(tmp_path, *turned, header=header)))


def test_a_column_that_is_not_there_is_named_with_those_that_look_like_it(tmp_path: Path) -> None:
    with pytest.raises(
        WardroundError, match=r"columns\.cholesterol\.column: table\.csv has no column 'chol'"
    ) as caught:
        read_table(contract(), csv_site(tmp_path, *ROWS, header=HEADER.replace("chol", "Chole")))
    assert caught.value.code == Reason.COLUMN_MISSING
    assert "did you mean Chole?" in str(caught.value)


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
    _same(plain, read_table(contract(), made))
    header = ",".join(odd.get(name, name) for name in HEADER.split(","))
    _same(plain, read_table(contract(), csv_site(tmp_path, *ROWS, header=header, **changes)))


def test_a_name_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WardroundError, match="column age is there twice"):
        read_table(contract(), csv_site(tmp_path, *ROWS, header=HEADER.replace("chol", "age")))


def test_an_unparseable_value_is_missing_and_told_with_row_and_column(tmp_path: Path) -> None:
    table = read_table(contract(), csv_site(tmp_path, *ROWS, "v6,p6,about 50,200,1,MED,0"))
    assert table.frame["age"][5] is None
    assert [problem.code for problem in table.problems] == [Reason.VALUE_INVALID]
    assert str(table.problems[0]) == (
        "table.csv, row 6, column age: age is 'about 50', expected a number; taken as missing"
    )
    assert table.doubts == []


def test_a_value_outside_the_range_is_missing(tmp_path: Path) -> None:
    table = read_table(contract(), csv_site(tmp_path, *ROWS, "v6,p6,150,200,1,MED,0"))
    assert table.frame["age"][5] is None
    assert [problem.code for problem in table.problems] == [Reason.VALUE_IMPLAUSIBLE]
    assert "row 6, column age: age is 150 years, expected 18 to 110 years" in str(table.problems[0])


def test_the_wrong_unit_raises_a_doubt_that_names_the_right_one(tmp_path: Path) -> None:
    rows = [f"v{i},p{i},60,{5 + i / 10},1,MED,{i % 2}" for i in range(12)]
    wrong = read_table(contract(), csv_site(tmp_path, *rows))
    assert [doubt.code for doubt in wrong.doubts] == [Reason.VALUE_IMPLAUSIBLE]
    assert "12 of 12 values of cholesterol" in str(wrong.doubts[0])
    assert "they would be plausible in mmol/L" in str(wrong.doubts[0])
    assert len(wrong.problems) == 6  # five in full, and the other seven together
    assert "7 more rows with this fault, the last is row 12" in str(wrong.problems[-1])
    right = read_table(contract(), site_with(write(tmp_path, *rows), "cholesterol", unit="mmol/L"))
    assert right.doubts == []
    assert right.frame["cholesterol"][0] == pytest.approx(5 * 38.67)


def test_the_wrong_decimal_sign_raises_a_doubt_that_names_the_right_one(tmp_path: Path) -> None:
    commas = [f'v{i},p{i},60,"{200 + i},5",1,MED,{i % 2}' for i in range(12)]
    doubt = str(read_table(contract(), csv_site(tmp_path, *commas)).doubts[0])
    assert 'they have a decimal comma, which a text file declares with source.decimal: ","' in doubt
    mixed = [*commas[:6], *(f"v{i},p{i},60,high,1,MED,{i % 2}" for i in range(6, 12))]
    assert "decimal" not in str(read_table(contract(), csv_site(tmp_path, *mixed)).doubts[0])


def test_an_unknown_category_is_a_problem_where_the_contract_has_no_bucket(tmp_path: Path) -> None:
    table = read_table(contract(), csv_site(tmp_path, *ROWS, "v6,p6,50,200,X,MED,0"))
    assert table.frame["sex"][5] is None
    assert "row 6, column sex: sex is 'X', expected one of 1, 0, female, male" in str(table.problems[0])


def test_an_unknown_category_goes_to_the_bucket_and_is_counted(tmp_path: Path) -> None:
    rows = (*ROWS, "v6,p6,50,200,1,ICU,0", "v7,p7,50,200,0,ICU,0")
    table = read_table(contract(), csv_site(tmp_path, *rows))
    assert table.frame["ward"].to_list()[5:] == ["other", "other"]
    assert table.problems == []
    assert [remark.code for remark in table.remarks] == [Reason.CATEGORY_UNSEEN]
    assert "2 values of ward" in str(table.remarks[0])
    assert "ICU (2)" in str(table.remarks[0])


def test_codes_that_nobody_mapped_at_all_raise_a_doubt(tmp_path: Path) -> None:
    table = read_table(contract(), site_with(write(tmp_path, *ROWS), "ward", codes={}))
    assert "none of 5 values of ward" in str(table.doubts[0])


def test_a_duplicated_row_is_left_out(tmp_path: Path) -> None:
    table = read_table(contract(), csv_site(tmp_path, *ROWS, "v2,p9,30,200,1,MED,0"))
    assert table.rows.tolist() == [1, 2, 3, 4, 5]
    assert [problem.code for problem in table.problems] == [Reason.CASE_DUPLICATED]
    assert "row 6, column visit: id v2 is that of row 2" in str(table.problems[0])
    assert [doubt.code for doubt in table.doubts] == [Reason.CASE_DUPLICATED]
    assert "column visit: 1 of 6 rows have the id of an earlier one and are left out" in str(table.doubts[0])


def test_rows_without_an_id_go_by_their_number_and_raise_a_doubt(tmp_path: Path) -> None:
    rows = (*ROWS, ",p6,50,200,1,MED,0", "?,p7,50,200,1,MED,0", "NA,p8,50,200,1,MED,1")
    table = read_table(contract(), csv_site(tmp_path, *rows))
    assert table.row_ids == ["v1", "v2", "v3", "v4", "v5", "row 6", "row 7", "row 8"]
    assert table.problems == []
    assert [doubt.code for doubt in table.doubts] == [Reason.DATA_MISSING]
    assert "column visit: 3 of 8 rows have no id and go by their number" in str(table.doubts[0])


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
    assert [problem.code for problem in table.problems] == [code]
    assert told in str(table.problems[0])


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
    assert {remark.code for remark in table.remarks} == {Reason.COLUMN_CONSTANT}
    told = [str(remark) for remark in table.remarks]
    assert "table.csv: column chol: cholesterol is missing in all 4 rows" in told
    assert "table.csv: column age: age is 60.0 in all 4 rows" in told
    assert table.doubts == []


def test_codes_for_missing_of_contract_column_and_site(tmp_path: Path) -> None:
    rows = ["v1,p1,?,0.0,9,MED,0", "v2,p2,NA,-9,0,unknown,1", "v3,p3,50,180,1,SURG,1"]
    columns = {
        **SITE["columns"],
        "cholesterol": {"column": "chol", "missing": ["-9"]},
        "sex": {**SITE["columns"]["sex"], "missing": ["9"]},
        "ward": {"column": "ward", "codes": {"MED": "medicine", "SURG": "surgery", "unknown": "missing"}},
    }
    table = read_table(contract(), csv_site(tmp_path, *rows, columns=columns))
    assert table.problems == []
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


def test_exclusions_are_left_out_and_counted_by_their_meaning(tmp_path: Path) -> None:
    asked = contract(exclusions=[{"column": "ended_in", "meaning": "died in hospital", "values": ["death"]}])
    rows = [f"{row},{end}" for row, end in zip(ROWS, ["H", "D", "H", "H", "D"], strict=True)]
    made = csv_site(
        tmp_path,
        *rows,
        header=HEADER + ",end",
        exclusions={"ended_in": {"column": "end", "codes": {"D": "death", "H": "home"}}},
    )
    table = read_table(asked, made)
    assert table.rows.tolist() == [1, 3, 4]
    assert "table.csv: 2 rows left out: died in hospital" in [str(remark) for remark in table.remarks]
    with pytest.raises(WardroundError, match=r"exclusions\.ended_in: missing"):
        read_table(asked, csv_site(tmp_path, *ROWS))


DIED = {"column": "ended_in", "meaning": "died in hospital", "values": ["death"]}
MOVED = {"column": "went_to", "meaning": "moved to another hospital", "values": ["moved"]}


def test_an_exclusion_that_no_row_has_is_a_doubt_that_names_its_codes(tmp_path: Path) -> None:
    rows = [f"{row},{end}" for row, end in zip(ROWS, ["1", "7", "1", "1", "7"], strict=True)]
    codes = {"07": "death", "20": "death", "1": "home"}
    asked = contract(exclusions=[DIED])
    made = csv_site(tmp_path, *rows, header=HEADER + ",end", exclusions={"ended_in": {"column": "end", "codes": codes}})
    table = read_table(asked, made)
    assert table.rows.tolist() == [1, 2, 3, 4, 5]
    assert [doubt.code for doubt in table.doubts] == [Reason.VALUE_INVALID]
    assert "column end: no row has 07, 20, so none is left out for: died in hospital; it has 1, 7" in str(
        table.doubts[0]
    )
    assert read_table(asked, made, labelled=False).doubts == []  # a few rows to predict for need not have one


def test_a_row_that_two_exclusions_have_is_left_out_by_the_first_and_raises_no_doubt(tmp_path: Path) -> None:
    rows = [f"{row},{end}" for row, end in zip(ROWS, ["1", "7", "1", "1", "7"], strict=True)]
    mappings = {
        "ended_in": {"column": "end", "codes": {"7": "death"}},
        "went_to": {"column": "end", "codes": {"7": "moved"}},
    }
    made = csv_site(tmp_path, *rows, header=HEADER + ",end", exclusions=mappings)
    table = read_table(contract(exclusions=[DIED, MOVED]), made)
    assert table.rows.tolist() == [1, 3, 4]
    assert table.doubts == []
    assert [str(remark) for remark in table.remarks if remark.code == Reason.ROW_EXCLUDED] == [
        "table.csv: 2 rows left out: died in hospital",
        "table.csv: 0 rows left out: moved to another hospital",
    ]


def test_a_hospital_can_declare_that_its_table_has_no_excluded_rows(tmp_path: Path) -> None:
    table = read_table(contract(exclusions=[DIED]), csv_site(tmp_path, *ROWS, exclusions={"ended_in": None}))
    assert table.rows.tolist() == [1, 2, 3, 4, 5]
    assert table.doubts == []
    assert "0 rows left out: died in hospital (exclusions.ended_in: null" in str(table.remarks[0])


@pytest.mark.parametrize(
    ("key", "value"), [("missing", ["9"]), ("unit", "years"), ("time", "age"), ("known_at_index", True)]
)
def test_a_key_that_does_nothing_for_an_exclusion_is_refused(tmp_path: Path, key: str, value: Any) -> None:
    mapping = {"column": "ward", "codes": {"MED": "death"}, key: value}
    with pytest.raises(WardroundError, match=rf"exclusions\.ended_in\.{key}: does nothing for an exclusion") as told:
        read_table(contract(exclusions=[DIED]), csv_site(tmp_path, *ROWS, exclusions={"ended_in": mapping}))
    assert told.value.code == Reason.CONFIGURATION_INVALID


@pytest.mark.parametrize("section", ["outcome", "exclusions"])
def test_one_code_written_twice_cannot_stand_for_two_values(tmp_path: Path, section: str) -> None:
    changes = {
        "outcome": {"column": "readmit", "codes": {"1": "yes", "1.0": "no"}},
        "exclusions": {"ended_in": {"column": "ward", "codes": {"1": "death", "1.0": "home"}}},
    }
    asked = contract(exclusions=[DIED] if section == "exclusions" else [])
    with pytest.raises(WardroundError, match=r"'1\.0' is the same as '1', which stands for another value"):
        read_table(asked, csv_site(tmp_path, *ROWS, **{section: changes[section]}))


def test_a_patients_first_row_is_the_earliest(tmp_path: Path) -> None:
    first = contract(rows_per_patient="first")
    by_row = read_table(first, csv_site(tmp_path, ROWS[1], ROWS[0], ROWS[2], row_id=None))
    assert by_row.rows.tolist() == [1, 2]
    by_id = read_table(first, csv_site(tmp_path, ROWS[2], ROWS[1]))
    assert by_id.row_ids == ["v2"]
    dated = [f"{ROWS[1]},2024-03-02", f"{ROWS[2]},2024-03-01T09:00"]
    by_date = read_table(first, csv_site(tmp_path, *dated, header=HEADER + ",day", index_date="day"))
    assert by_date.row_ids == ["v3"]
    assert "1 rows left out" in str(by_date.remarks[0])


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
    _same(plain, read_table(contract(), site({"kind": "parquet", "file": tmp_path / "table.parquet"})))
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
    _same(plain, read_table(contract(), site({"kind": "sql", "query": query, "url_variable": "HOSPITAL_DB"})))


def test_semicolons_decimal_comma_and_a_byte_order_mark_give_the_same(tmp_path: Path) -> None:
    plain = read_table(contract(), csv_site(tmp_path, *ROWS))
    text = "\r\n".join([HEADER, *ROWS]).replace(",", ";").replace(".", ",")
    file = tmp_path / "german.csv"
    file.write_bytes(b"\xef\xbb\xbf" + text.encode())
    made = site({"kind": "csv", "file": file, "separator": ";", "decimal": ","})
    _same(plain, read_table(contract(), made))


def test_a_point_in_a_number_with_decimal_comma_is_no_guess(tmp_path: Path) -> None:
    file = write(tmp_path, *(row.replace(",", ";") for row in ROWS), header=HEADER.replace(",", ";"))
    table = read_table(contract(), site({"kind": "csv", "file": file, "separator": ";", "decimal": ","}))
    assert "age is '63.5', expected a number with decimal comma" in str(table.problems[0])


def test_the_outcome_cannot_be_an_input(tmp_path: Path) -> None:
    columns = {**SITE["columns"], "age": {"column": "readmit"}}
    with pytest.raises(WardroundError, match="which would predict itself"):
        read_table(contract(), csv_site(tmp_path, *ROWS, columns=columns))


def test_a_range_holds_its_ends_after_conversion(tmp_path: Path) -> None:
    asked = contract_with("cholesterol", units={"mmol/L": {"factor": 38.67}}, range=[38.67 * 1.1, 386.7])
    rows = ["v1,p1,50,1.1,1,MED,0", "v2,p2,50,10,0,MED,1"]
    table = read_table(asked, site_with(write(tmp_path, *rows), "cholesterol", unit="mmol/L"))
    assert table.problems == []
    assert table.frame["cholesterol"].is_between(*asked.columns["cholesterol"].range).all()  # type: ignore[union-attr]


def _same(one: Table, other: Table) -> None:
    assert one.frame.equals(other.frame)
    assert one.frame.columns == list(CONTRACT["columns"])
    assert one.outcome.tolist() == other.outcome.tolist()
    assert (one.patients, one.row_ids) == (other.patients, other.row_ids)
    assert one.rows.tolist() == other.rows.tolist()


def test_the_patient_column_is_neither_outcome_nor_input(tmp_path: Path) -> None:
    with pytest.raises(WardroundError, match="patient: readmit is the outcome's column"):
        read_table(contract(), csv_site(tmp_path, *ROWS, patient="readmit"))
    with pytest.raises(WardroundError, match=r"columns\.age\.column: age is the patient's id"):
        read_table(contract(), csv_site(tmp_path, *ROWS, patient="age"))


@pytest.mark.parametrize(("codes", "told"), [({"D": "deth"}, "did you mean death"), ({"D": "end"}, "no code stands")])
def test_a_slip_in_an_exclusion_is_refused(tmp_path: Path, codes: dict[str, str], told: str) -> None:
    asked = contract(exclusions=[{"column": "ended_in", "meaning": "died in hospital", "values": ["death"]}])
    with pytest.raises(WardroundError, match=told):
        read_table(asked, csv_site(tmp_path, *ROWS, exclusions={"ended_in": {"column": "ward", "codes": codes}}))


def test_a_column_that_the_hospital_lacks_is_missing_in_every_row_and_remarked(tmp_path: Path) -> None:
    rows = ["v1,p1,63.5,233,1,0", "v2,p2,67,286.5,0,1"]
    columns = {**SITE["columns"], "cholesterol": None, "ward": None}
    table = read_table(contract(), csv_site(tmp_path, *rows, header="visit,pid,age,chol,sex,readmit", columns=columns))
    assert table.frame.schema == {"age": pl.Float64, "cholesterol": pl.Float64, "sex": pl.String, "ward": pl.String}
    assert table.frame["cholesterol"].to_list() == table.frame["ward"].to_list() == [None, None]
    assert table.frame["age"].to_list() == [63.5, 67.0]
    assert [remark.code for remark in table.remarks] == [Reason.COLUMN_CONSTANT] * 2
    assert "cholesterol is declared absent (columns.cholesterol: null" in str(table.remarks[0])
    assert (table.problems, table.doubts) == ([], [])


def test_an_absent_column_needs_no_declaration_of_when_it_was_known(tmp_path: Path) -> None:
    known = {name: {**mapping, "known_at_index": True} for name, mapping in SITE["columns"].items()}
    columns = {**known, "ward": None}
    table = read_table(contract(), csv_site(tmp_path, *ROWS, columns=columns, known_at_index=False))
    assert table.frame["ward"].null_count() == len(ROWS)


def test_a_hospital_that_lacks_every_column_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WardroundError, match="columns: all are null") as caught:
        read_table(contract(), csv_site(tmp_path, *ROWS, columns=dict.fromkeys(SITE["columns"])))
    assert caught.value.code == Reason.COLUMN_MISSING
