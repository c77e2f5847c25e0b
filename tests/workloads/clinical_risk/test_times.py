from datetime import datetime, timedelta, timezone

import polars as pl
import pytest

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
    assert read_times(pl.Series("x", [text, ""]), [""]).local.to_list() == [local, None]


@pytest.mark.parametrize("text", ["31.05.2024", "2024-02-30", "2024-05-31T25:00", "20240531", "soon", "2024-05-31x"])
def test_what_is_no_iso_time_is_invalid(text: str) -> None:
    assert read_times(pl.Series("x", [text, "?"]), ["?"]).invalid.to_list() == [True, False]


def test_instants_need_a_zone_at_every_value() -> None:
    zoned = read_times(pl.Series("x", ["2024-05-31T01:00+02:00", None, "2024-05-31T01:00Z"]), [])
    assert zoned.instant is not None
    assert zoned.instant.to_list() == [datetime(2024, 5, 30, 23), None, datetime(2024, 5, 31, 1)]
    assert read_times(pl.Series("x", ["2024-05-31T01:00+02:00", "2024-05-31T01:00"]), []).instant is None
    typed = pl.Series("x", [datetime(2024, 5, 31, 1, tzinfo=timezone(timedelta(hours=2)))])
    assert read_times(typed, []).instant is not None


def test_a_column_of_numbers_holds_no_times() -> None:
    with pytest.raises(WardroundError, match="column x: holds Int64; expected a date or time"):
        read_times(pl.Series("x", [20240531]), [])
