from datetime import date, datetime, timedelta, timezone

import polars as pl
import pytest

from wardround.records.faults import Where
from wardround.records.reasons import WardroundError
from wardround.workloads.clinical_risk.times import read_times


@pytest.mark.parametrize(
    ("text", "local"),
    [
        ("2024-05-31", datetime(2024, 5, 31)),
        ("2024-05-31T14:30", datetime(2024, 5, 31, 14, 30)),
        ("2024-05-31 14:30:05.25", datetime(2024, 5, 31, 14, 30, 5, 250000)),
        ("2024-05-31T14:30:00Z", datetime(2024, 5, 31, 14, 30)),
        ("2024-05-31T14:30:00-0500", datetime(2024, 5, 31, 14, 30)),
    ],
)
def test_iso_times_are_read_by_the_hospitals_clock(text: str, local: datetime) -> None:
    assert read_times(pl.Series("x", [text, ""]), [""], where=Where(file="t")).local.to_list() == [local, None]


@pytest.mark.parametrize("text", ["31.05.2024", "2024-02-30", "2024-05-31T25:00", "20240531", "soon", "2024-05-31x"])
def test_what_is_no_iso_time_is_invalid(text: str) -> None:
    assert read_times(pl.Series("x", [text, "?"]), ["?"], where=Where(file="t")).invalid.to_list() == [True, False]


def test_each_value_says_its_zone_or_none() -> None:
    texts = ["2024-05-31T01:00+02:00", None, "2024-05-31T01:00Z", "2024-05-31T01:00"]
    read = read_times(pl.Series("x", texts), [], where=Where(file="t"))
    assert read.instant.to_list() == [datetime(2024, 5, 30, 23), None, datetime(2024, 5, 31, 1), None]
    typed = pl.Series("x", [datetime(2024, 5, 31, 1, tzinfo=timezone(timedelta(hours=2)))])
    assert read_times(typed, [], where=Where(file="t")).instant.to_list() == [datetime(2024, 5, 30, 23)]
    assert read_times(typed.dt.replace_time_zone(None), [], where=Where(file="t")).instant.to_list() == [None]


@pytest.mark.parametrize(
    ("values", "date_only"),
    [
        (["2024-05-31", "2024-05-31T09:00", "2024-05-31T00:00"], [True, False, False]),
        (["2024-05-31", "2024-05-31T00:00"], [True, True]),
        ([date(2024, 5, 31), date(2024, 6, 1)], [True, True]),
        ([datetime(2024, 5, 31), datetime(2024, 6, 1)], [True, True]),
        ([datetime(2024, 5, 31), datetime(2024, 6, 1, 9)], [False, False]),
    ],
)
def test_each_value_is_a_date_or_a_moment(values: list[object], date_only: list[bool]) -> None:
    assert read_times(pl.Series("x", values), [], where=Where(file="t")).date_only.to_list() == date_only


def test_a_column_of_numbers_holds_no_times() -> None:
    with pytest.raises(WardroundError, match="stays, column day: holds Int64, expected a date or time"):
        read_times(pl.Series("x", [20240531]), [], where=Where(file="stays", column="day"))
