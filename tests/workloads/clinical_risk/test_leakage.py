from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from support.small_tables import HEADER, ROWS, SITE, contract, contract_with, csv_site, site
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.clinical_risk.settings import ClinicalRiskSiteSettings
from wardround.workloads.clinical_risk.table import read_table

TIMED = {**SITE["columns"], "cholesterol": {"column": "chol", "time": "drawn"}}


def _timed(
    folder: Path, days: list[tuple[str, str]], *, rows: Sequence[str] = ROWS, **changes: Any
) -> ClinicalRiskSiteSettings:
    """The site, with an admission and a blood draw for each row."""
    rows = [f"{row},{admitted},{drawn}" for row, (admitted, drawn) in zip(rows, days, strict=False)]
    header = HEADER + ",admitted,drawn"
    return csv_site(folder, *rows, header=header, **{"columns": TIMED, "index_date": "admitted", **changes})


def test_planted_late_values_are_missing_and_fail_the_check(tmp_path: Path) -> None:
    days = [("2024-05-10", "2024-05-10"), ("2024-05-10", "2024-05-11"), ("2024-05-10", "2020-01-01")]
    table = read_table(contract(), _timed(tmp_path, days))
    assert table.frame["cholesterol"].to_list() == [233.0, None, None]  # the third is missing in the source
    assert [problem.kind for problem in table.findings.warnings] == [Reason.KNOWN_TOO_LATE]
    assert "row 2, column drawn: cholesterol was measured at 2024-05-11" in str(table.findings.warnings[0])
    assert [doubt.kind for doubt in table.findings.errors] == [Reason.KNOWN_TOO_LATE]
    assert "1 of 2 values of cholesterol" in str(table.findings.errors[0])


def test_a_window_that_ends_before_the_index_date(tmp_path: Path) -> None:
    asked = contract_with("cholesterol", window={"from_days": -30, "to_days": -1})
    days = [("2024-05-10", "2024-05-09"), ("2024-05-10", "2024-05-10"), ("2024-05-10", "2024-05-01"),
            ("2024-05-10", "2024-05-01"), ("2024-05-10", "2024-04-09")]  # fmt: skip
    table = read_table(asked, _timed(tmp_path, days))
    assert table.frame["cholesterol"].to_list() == [233.0, None, None, None, None]
    assert [problem.kind for problem in table.findings.warnings] == [Reason.KNOWN_TOO_LATE, Reason.MEASURED_TOO_EARLY]
    assert len(table.findings.errors) == 1  # an old value gives nothing away


def test_times_of_day_are_compared_where_both_have_them(tmp_path: Path) -> None:
    days = [("2024-05-10T09:00", "2024-05-10T08:59"), ("2024-05-10T09:00", "2024-05-10T18:00")]
    table = read_table(contract(), _timed(tmp_path, days))
    assert table.frame["cholesterol"].to_list() == [233.0, None]
    by_day = read_table(contract(), _timed(tmp_path, [(index[:10], drawn) for index, drawn in days]))
    assert by_day.frame["cholesterol"].to_list() == [233.0, 286.5]


def test_time_zones_are_taken_into_account(tmp_path: Path) -> None:
    days = [("2024-05-10T09:00+02:00", "2024-05-10T06:59Z"), ("2024-05-10T09:00+02:00", "2024-05-10 07:01:00.5Z")]
    assert read_table(contract(), _timed(tmp_path, days)).frame["cholesterol"].to_list() == [233.0, None]
    mixed = [("2024-05-10T09:00+02:00", "2024-05-10T08:00")] * 2
    told = r"table\.csv, column drawn: says no time zone in row 1 and admitted one, .* in 2 of 2 rows"
    with pytest.raises(WardroundError, match=told):
        read_table(contract(), _timed(tmp_path, mixed))


def test_dates_among_times_are_compared_by_day_in_their_own_rows_alone(tmp_path: Path) -> None:
    days = [
        ("2024-05-10", "2024-05-10T18:00"),
        ("2024-05-10T09:00", "2024-05-10T18:00"),
        ("2024-05-10T09:00", "2024-05-10"),
        ("2024-05-10", "2024-05-10"),
        ("2024-05-10T09:00", "2024-05-10T08:59"),
    ]
    rows = [row.replace(",?,", ",240,").replace(",0,0,MED", ",250,0,MED") for row in ROWS]
    table = read_table(contract(), _timed(tmp_path, days, rows=rows))
    assert table.frame["cholesterol"].to_list() == [233.0, None, 240.0, 250.0, 236.0]
    zoned = [(index + "+02:00" * ("T" in index), drawn + "+02:00" * ("T" in drawn)) for index, drawn in days]
    assert read_table(contract(), _timed(tmp_path, zoned, rows=rows)).frame.equals(table.frame)


@pytest.mark.parametrize(("to_days", "kept"), [(0, [233.0, 286.5]), (-1, [None, None])])
def test_the_index_date_as_the_time_of_a_value_is_day_0_of_its_window(
    tmp_path: Path, to_days: int, kept: list[float | None]
) -> None:
    asked = contract_with("cholesterol", window={"to_days": to_days})
    columns = {**TIMED, "cholesterol": {"column": "chol", "time": "admitted"}}
    days = [("2024-05-10T09:00", ""), ("2024-05-11", "")]
    assert read_table(asked, _timed(tmp_path, days, columns=columns)).frame["cholesterol"].to_list() == kept


def test_a_patients_later_row_counts_where_the_first_is_excluded(tmp_path: Path) -> None:
    died = {"column": "ended_in", "meaning": "died in hospital", "values": ["death"]}
    rows = ["v2,p2,67,286.5,0,SURG,1", "v3,p2,67,240,1,MED,1"]
    made = csv_site(tmp_path, *rows, exclusions={"ended_in": {"column": "ward", "codes": {"SURG": "death"}}})
    assert read_table(contract(exclusions=[died], rows_per_patient="first"), made).row_ids == ["v3"]


def test_columns_of_times_may_have_names_like_patterns(tmp_path: Path) -> None:
    days = [("2024-05-10T09:00", "2024-05-10T08:59"), ("2024-05-10T09:00", "2024-05-10T18:00")]
    _timed(tmp_path, days)
    names = {"admitted": "^a.*$", "drawn": "*"}
    columns = {**SITE["columns"], "cholesterol": {"column": "chol", "time": "*"}}
    file = tmp_path / "odd.parquet"
    for frame in (
        pl.read_csv(tmp_path / "table.csv", null_values=["?"]),
        pl.read_csv(tmp_path / "table.csv", null_values=["?"], try_parse_dates=True),
    ):
        frame.rename(names).write_parquet(file)
        made = site({"kind": "parquet", "file": file}, columns=columns, index_date="^a.*$")
        assert read_table(contract(), made).frame["cholesterol"].to_list() == [233.0, None]


def test_typed_times_are_read_too(tmp_path: Path) -> None:
    days = [("2024-05-10", "2024-05-10"), ("2024-05-10", "2024-05-11")]
    made = _timed(tmp_path, days)
    frame = pl.read_csv(tmp_path / "table.csv", try_parse_dates=True)
    assert frame.schema["drawn"] == pl.Date
    frame.write_parquet(tmp_path / "t.parquet")
    typed = site({"kind": "parquet", "file": tmp_path / "t.parquet"}, columns=TIMED, index_date="admitted")
    one, other = read_table(contract(), made), read_table(contract(), typed)
    assert one.frame.equals(other.frame)
    assert one.index_dates is not None
    assert other.index_dates is not None
    assert one.index_dates.to_list() == other.index_dates.to_list()


def test_a_row_without_a_valid_index_date_is_left_out(tmp_path: Path) -> None:
    days = [("2024-05-10", "2024-05-10"), ("10.05.2024", "2024-05-10"), ("2024-02-30", "2024-05-10")]
    table = read_table(contract(), _timed(tmp_path, days))
    assert table.rows.tolist() == [1]
    assert [problem.kind for problem in table.findings.warnings] == [Reason.VALUE_INVALID] * 2
    assert "row 2, column admitted: index date '10.05.2024', expected a date" in str(table.findings.warnings[0])


def test_a_value_without_a_valid_time_is_missing(tmp_path: Path) -> None:
    days = [("2024-05-10", "2024-05-10"), ("2024-05-10", "soon"), ("2024-05-10", "")]
    table = read_table(contract(), _timed(tmp_path, days))
    assert table.frame["cholesterol"].to_list() == [233.0, None, None]
    assert [str(problem).split(": ")[0] for problem in table.findings.warnings] == ["table.csv, row 2, column drawn"]


def test_a_column_without_a_time_must_be_declared(tmp_path: Path) -> None:
    neither = "neither `time` nor `known_at_index: true` at age, cholesterol, sex, ward,"
    with pytest.raises(WardroundError, match=f"site.yaml: columns: {neither}") as caught:
        read_table(contract(), csv_site(tmp_path, *ROWS, known_at_index=False))
    assert caught.value.code == Reason.KNOWN_TOO_LATE
    assert "name at `time` the column" in str(caught.value)
    assert "write the line `known_at_index: true` beside `columns`, which declares them all" in str(caught.value)
    (told,) = caught.value.faults  # one for all of them
    assert told.count == 4
    declared = {name: {**mapping, "known_at_index": True} for name, mapping in SITE["columns"].items()}
    table = read_table(contract(), csv_site(tmp_path, *ROWS, known_at_index=False, columns=declared))
    assert table.frame.height == 5


def test_a_time_needs_an_index_date_and_no_declaration(tmp_path: Path) -> None:
    with pytest.raises(WardroundError, match=r"columns\.cholesterol\.time: needs the index date"):
        read_table(contract(), csv_site(tmp_path, *ROWS, columns=TIMED))
    both = {**TIMED, "cholesterol": {**TIMED["cholesterol"], "known_at_index": True}}
    with pytest.raises(WardroundError, match="has both `time` and `known_at_index`"):
        read_table(contract(), _timed(tmp_path, [("2024-05-10", "2024-05-10")], columns=both))
