"""The contribution gate: counts, no update, names, shapes, types, values."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from wardround.aggregation.gate import Rejection, as_tensors, check_update, is_no_update
from wardround.records.reasons import Reason

EXPECTED = {"a": ("float32", (2, 3)), "b": ("float32", (4,)), "scalar": ("float32", ())}


def update(**changes: Any) -> dict[str, Any]:
    return {"a": torch.ones(2, 3), "b": torch.ones(4), "scalar": torch.tensor(1.0), **changes}


def rejection(*arguments: Any, **options: Any) -> Rejection:
    found = check_update(*arguments, **options)
    assert found is not None
    return found


def test_what_was_declared_passes() -> None:
    assert check_update(update(), 12, EXPECTED, 10.0, declared=12) is None


@pytest.mark.parametrize("count", [0, -5, math.nan, 1e12, 10**12, None, "10", True, 10.0])
def test_a_count_that_is_none_is_rejected(count: Any) -> None:
    assert rejection(update(), count, EXPECTED).reason is Reason.COUNT_INVALID


def test_a_count_other_than_declared_is_rejected() -> None:
    found = rejection(update(), 13, EXPECTED, declared=12)
    assert found.reason is Reason.COUNT_INVALID
    assert "12" in found.detail
    assert "13" in found.detail


def test_the_three_sets_tell_what_is_wrong_with_the_names() -> None:
    renamed = update()
    renamed["module.a"] = renamed.pop("a")
    found = rejection(renamed, 1, EXPECTED)
    assert found.reason is Reason.NAMES_MISMATCH
    assert (found.shared, found.missing, found.unknown) == (("b", "scalar"), ("a",), ("module.a",))

    extra = rejection(update(counter=torch.tensor(1)), 1, EXPECTED)
    assert (extra.missing, extra.unknown) == ((), ("counter",))

    other = rejection({"x": torch.ones(1)}, 1, EXPECTED)
    assert (other.shared, other.missing, other.unknown) == ((), ("a", "b", "scalar"), ("x",))
    assert rejection({}, 1, EXPECTED).missing == ("a", "b", "scalar")


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"a": torch.ones(3, 2)}, Reason.SHAPE_MISMATCH),
        ({"b": torch.ones(4, 1)}, Reason.SHAPE_MISMATCH),
        ({"b": torch.ones(4, dtype=torch.float64)}, Reason.TYPE_MISMATCH),
        ({"b": torch.ones(4, dtype=torch.int64)}, Reason.TYPE_MISMATCH),
        ({"b": [1.0, 1.0, 1.0, 1.0]}, Reason.TYPE_MISMATCH),
        ({"b": torch.tensor([1.0, math.nan, 1.0, 1.0])}, Reason.NOT_FINITE),
        ({"scalar": torch.tensor(-math.inf)}, Reason.NOT_FINITE),
        ({"a": torch.full((2, 3), 1e30)}, Reason.NORM_TOO_LARGE),
    ],
)
def test_another_shape_type_or_value_is_rejected(changed: dict[str, Any], reason: Reason) -> None:
    found = rejection(update(**changed), 1, EXPECTED)
    assert found.reason is reason
    assert found.detail


def test_the_norm_is_over_all_entries() -> None:
    exact = math.sqrt(11)  # 11 ones
    assert check_update(update(), 1, EXPECTED, exact * 1.0001) is None
    assert rejection(update(), 1, EXPECTED, exact * 0.9999).reason is Reason.NORM_TOO_LARGE


def test_only_an_update_of_zeros_is_no_update() -> None:
    zeros = {name: torch.zeros(shape) for name, (_, shape) in EXPECTED.items()}
    assert is_no_update(zeros)
    assert check_update(zeros, 1, EXPECTED) is None  # an alarm, not a rejection
    zeros["b"][3] = 1e-30
    assert not is_no_update(zeros)


def test_arrays_of_a_privacy_filter_become_tensors() -> None:
    arrays = {name: np.ones(shape, dtype=np.float32) for name, (_, shape) in EXPECTED.items()}
    assert check_update(as_tensors(arrays), 1, EXPECTED) is None
