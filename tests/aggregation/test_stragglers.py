"""Who is slow, against times that are known."""

import pytest

from wardround.aggregation.stragglers import stragglers


@pytest.mark.parametrize(
    ("seconds", "slow"),
    [
        ({"a": 10, "b": 11, "c": 12}, []),
        ({"a": 10, "b": 11, "c": 55}, ["c"]),  # five times
        ({"a": 20, "b": 20, "c": 60}, []),  # three times is not more than three
        ({"a": 1, "b": 1, "c": 31}, []),  # nobody waits long
        ({"a": 1, "b": 1, "c": 32}, ["c"]),
        ({"a": 100, "b": 100, "c": 200}, []),
        ({"a": 10, "c": 100}, []),  # of two, neither is the usual one
        ({"a": 10, "b": 10, "c": 100, "d": 100}, ["c", "d"]),
        ({}, []),
    ],
)
def test_much_later_than_the_median_in_proportion_and_in_seconds(seconds: dict[str, float], slow: list[str]) -> None:
    assert stragglers(seconds) == slow
