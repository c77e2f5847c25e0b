"""A record cannot say 0 for undefined, nor a value that is none."""

import pytest
from pydantic import ValidationError

from wardround.records.metric_record import MetricRecord, Status, undefined, value_of


def test_undefined_is_null_with_a_reason() -> None:
    record = undefined("dice_et", "no_positive_case", n=4, n_positive=0)
    assert (record.value, record.status, record.reason) == (None, Status.UNDEFINED, "no_positive_case")
    assert value_of([record], "dice_et") is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"value": 0.0, "status": "undefined", "reason": "empty"},
        {"value": None},
        {"value": float("nan")},
        {"value": 0.5, "status": "low_support"},
        {"value": 0.5, "n_positive": 9},
        {"value": 0.5, "n": -1},
    ],
)
def test_an_inconsistent_record_is_refused(wrong: dict) -> None:
    with pytest.raises(ValidationError):
        MetricRecord(**({"name": "dice_wt", "n": 4} | wrong))
