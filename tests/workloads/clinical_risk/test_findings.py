import numpy as np
import polars as pl
import pytest

from wardround.records.reasons import Reason
from wardround.workloads.clinical_risk.findings import Findings, too_many


@pytest.mark.parametrize(("faults", "told"), [(0, 0), (1, 1), (5, 5), (6, 6), (500, 6)])
def test_many_faults_of_one_kind_are_told_as_one(faults: int, told: int) -> None:
    findings = Findings("t.csv")
    mask = pl.Series([True] * faults + [False] * 3 + [None], dtype=pl.Boolean)
    rows = np.arange(len(mask)) + 10
    count = findings.faulty(Reason.VALUE_INVALID, "age", mask, rows, lambda position: f"position {position}")
    assert count == faults
    assert len(findings.problems) == told
    if faults:
        assert str(findings.problems[0]) == "t.csv, row 10, column age: position 0"
    if faults > 5:
        assert f"{faults - 5} more row" in str(findings.problems[-1])
        assert f"the last is row {faults + 9}" in str(findings.problems[-1])


@pytest.mark.parametrize(
    ("count", "among", "expected"), [(1, 1, False), (2, 10, True), (5, 100, False), (6, 100, True)]
)
def test_more_than_slips_of_the_pen(count: int, among: int, expected: bool) -> None:
    assert too_many(count, among) is expected
