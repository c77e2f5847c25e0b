import numpy as np
import polars as pl
import pytest

from wardround.records.faults import Where
from wardround.records.inspection import Severity
from wardround.records.reasons import Reason
from wardround.workloads.clinical_risk.findings import TableFindings, cut, too_many, values_of


@pytest.mark.parametrize(("faults", "told"), [(0, 0), (1, 1), (100, 100), (101, 101), (5000, 101)])
def test_many_faults_of_one_kind_are_counted_and_the_first_are_told(faults: int, told: int) -> None:
    findings = TableFindings("t.csv")
    mask = pl.Series([True] * faults + [False] * 3 + [None], dtype=pl.Boolean)
    rows = np.arange(len(mask)) + 10
    count = findings.faulty(
        Reason.VALUE_INVALID, "age", mask, rows, lambda place: f"at {place}", expected="a number", advice="correct it"
    )
    warnings = findings.found.warnings
    assert count == faults
    assert len(warnings) == told
    assert findings.found.count_by_kind(Severity.WARNING) == ({"value_invalid": faults} if faults else {})
    if faults:
        assert warnings[0].where == Where(file="t.csv", row=10, column="age")
        assert str(warnings[0]) == "t.csv, row 10, column age: at 0, expected a number; correct it"
    if faults > 100:
        assert warnings[-1].count == faults - 100
        assert f"{faults - 100} more {'row' if faults == 101 else 'rows'} with" in str(warnings[-1])
        assert f"the last is row {faults + 9}" in str(warnings[-1])


@pytest.mark.parametrize(
    ("count", "among", "expected"), [(1, 1, False), (2, 10, True), (5, 100, False), (6, 100, True)]
)
def test_more_than_slips_of_the_pen(count: int, among: int, expected: bool) -> None:
    assert too_many(count, among) is expected


def test_a_value_is_told_in_one_line_of_limited_length() -> None:
    assert cut("MED") == "MED"
    assert cut("a\nb") == "a b"
    assert cut("9" * 60) == "9" * 60
    assert cut("9" * 61) == "9" * 60 + "... (61 characters)"
    assert cut("9" * 400) == "9" * 60 + "... (400 characters)"


@pytest.mark.parametrize(
    ("values", "told"),
    [([], "no value"), ([None, "b", "a", "b"], "a, b"), ([*"abcdefgh"], "a, b, c, d, e, f, g, h")],
)
def test_the_first_eight_values_of_a_column_are_told(values: list[str | None], told: str) -> None:
    assert values_of(pl.Series(values, dtype=pl.String)) == told
    if len(values) == 8:
        assert values_of(pl.Series([*values, "i"])) == f"{told}, ..."
