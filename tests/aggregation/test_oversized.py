"""Which updates are too long to be let into a mean, against norms that are known."""

import math

import pytest

from wardround.aggregation.oversized import oversized


def test_a_million_fold_update_is_named_with_its_ratio() -> None:
    assert oversized({"a": 1.0, "b": 2.0, "c": 2e6}, 100.0) == {"c": 1e6}


@pytest.mark.parametrize(("norm", "named"), [(199.0, []), (200.0, []), (201.0, ["c"])])
def test_the_limit_is_in_medians_of_the_round(norm: float, named: list[str]) -> None:
    assert [*oversized({"a": 1.0, "b": 2.0, "c": norm}, 100.0)] == named


def test_one_that_hardly_moved_or_did_not_makes_no_other_too_long() -> None:
    assert oversized({"a": 1e-9, "b": 1.0, "c": 1.0}, 100.0) == {}
    assert oversized({"a": 0.0, "b": 0.0, "c": 1.0}, 100.0) == {}
    assert oversized({"a": 0.0}, 100.0) == {}
    assert oversized({}, 100.0) == {}


def test_of_two_that_differ_too_much_the_longer_is_left_out() -> None:
    assert oversized({"a": 1.0, "b": 1e6}, 100.0) == {"b": 1e6}


def test_two_of_four_that_are_too_long_are_both_named() -> None:
    assert [*oversized({"a": 1.0, "b": 1.0, "c": 1e6, "d": 1e6}, 100.0)] == ["c", "d"]


def test_without_a_limit_nobody_is() -> None:
    assert oversized({"a": 1.0, "b": 1.0, "c": math.inf}, None) == {}
