"""The population stability index against its closed form, and chance against drawing."""

from math import log

import numpy as np
import pytest

from wardround.metrics.stability import chance_index, judged, stability_index


def test_the_index_is_the_sum_by_hand() -> None:
    expected, found = [0.5, 0.3, 0.2], [40, 40, 20]
    by_hand = (0.4 - 0.5) * log(0.4 / 0.5) + (0.4 - 0.3) * log(0.4 / 0.3) + 0.0
    assert stability_index(expected, found) == pytest.approx(by_hand)
    assert stability_index(expected, [5, 3, 2]) == pytest.approx(0)
    assert stability_index([0.5, 0.5], [90, 10]) == pytest.approx(0.8 * log(3), rel=1e-9)  # .4 ln 1.8 - .4 ln .2


def test_an_empty_cell_counts_as_half_a_row() -> None:
    by_hand = (1 - 0.9) * log(1 / 0.9) + (0.005 - 0.1) * log(0.005 / 0.1)
    assert stability_index([0.9, 0.1], [100, 0]) == pytest.approx(by_hand)


def test_chance_is_exceeded_in_one_of_twenty_samples_where_nothing_moved() -> None:
    generator = np.random.default_rng(0)
    truth, rows, trained = np.full(10, 0.1), 200, 1000
    over = 0
    for _ in range(1000):
        expected = generator.multinomial(trained, truth) / trained
        over += stability_index(list(expected), list(generator.multinomial(rows, truth))) > chance_index(
            10, rows, trained
        )
    assert 0.03 < over / 1000 < 0.08
    assert chance_index(10, 50, 10**9) == pytest.approx(16.92 / 50, rel=1e-3)


@pytest.mark.parametrize(
    ("index", "chance", "shift"),
    [(0.09, 0.0, "stable"), (0.1, 0.0, "moderate"), (0.25, 0.0, "large"), (0.3, 0.34, "stable"), (0.4, 0.34, "large")],
)
def test_the_rule_of_thumb_counts_beyond_chance(index: float, chance: float, shift: str) -> None:
    assert judged(index, chance) == shift
