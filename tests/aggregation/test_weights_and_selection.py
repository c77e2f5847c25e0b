"""Effective weights and the choice of a round over a fixed set of sites."""

import pytest

from wardround.aggregation.selection import choose_best
from wardround.aggregation.weights import effective_weights
from wardround.records.reasons import Reason, WardroundError


def test_weights_sum_to_one_in_the_order_of_sites() -> None:
    assert effective_weights({"b": 30, "a": 10}) == {"a": 0.25, "b": 0.75}
    assert list(effective_weights({"b": 30, "a": 10})) == ["a", "b"]
    assert effective_weights({"b": 30, "a": 10}, "equal") == {"a": 0.5, "b": 0.5}


@pytest.mark.parametrize("counts", [{}, {"a": 0, "b": 0}, {"a": -1, "b": 3}, {"a": float("nan")}])
def test_a_total_of_nothing_raises(counts: dict[str, float]) -> None:
    with pytest.raises(WardroundError) as caught:
        effective_weights(counts)
    assert caught.value.code is Reason.COUNT_INVALID


SITES = ("a", "b")


def test_the_best_mean_wins_and_the_earliest_of_equals() -> None:
    scores = {1: {"a": 0.5, "b": 0.7}, 2: {"a": 0.9, "b": 0.4}, 3: {"a": 0.4, "b": 0.9}}
    assert choose_best(scores, SITES) == 2
    assert choose_best(scores, SITES, "min") == 1


def test_a_round_without_the_weakest_site_cannot_win() -> None:
    scores: dict[int, dict[str, float | None]] = {
        1: {"a": 0.5, "b": 0.1},
        2: {"a": 0.9},
        3: {"a": 0.9, "b": None},
        4: {"a": 0.9, "b": float("nan")},
    }
    assert choose_best(scores, SITES) == 1
    assert choose_best({2: scores[2]}, SITES) is None
    assert choose_best({}, SITES) is None
    assert choose_best(scores, ()) is None


def test_the_last_round_can_win_and_an_outside_site_has_no_say() -> None:
    assert choose_best({1: {"a": 0.5, "b": 0.5, "x": 1.0}, 2: {"a": 0.6, "b": 0.6, "x": 0.0}}, SITES) == 2
    assert choose_best({1: {"a": 0.5, "b": 0.5}}, SITES) == 1
