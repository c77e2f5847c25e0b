"""The population stability index against its closed form, and chance against drawing."""

from math import log

import numpy as np
import pytest

from wardround.metrics.stability import (
    FEWEST_PATIENTS,
    chance_index,
    chance_of_patients,
    index_of_shares,
    judged,
    stability_index,
)


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


@pytest.mark.parametrize(("patients", "alike"), [(5, 5), (20, 50)])
def test_patients_that_differ_exceed_their_chance_in_one_of_twenty_looks(patients: int, alike: float) -> None:
    generator = np.random.default_rng(1)
    over, looks, trained = 0, 60, 60
    for _ in range(looks):  # each patient's voxels are about as unlike as `alike` tells; voxels are without number
        expected = generator.dirichlet(np.full(10, alike / 10), trained).mean(axis=0)
        now = generator.dirichlet(np.full(10, alike / 10), patients)
        chance = chance_of_patients(now, trained)
        assert chance is not None
        over += index_of_shares(list(expected), now) > chance
    assert over / looks < 0.12


def test_few_patients_are_told_apart_from_nothing_moved() -> None:
    one = np.full((FEWEST_PATIENTS - 1, 4), 0.25)
    assert chance_of_patients(one, 100) is None
    assert chance_of_patients(np.full((FEWEST_PATIENTS, 4), 0.25), 100) == pytest.approx(0)
    assert index_of_shares([0.25] * 4, one) == pytest.approx(0)
    assert index_of_shares([0.7, 0.1, 0.1, 0.1], one) > 0.5  # a share below half a patient is a share


@pytest.mark.parametrize(
    ("index", "chance", "shift"),
    [
        (0.3, None, "too_few"),
        (0.09, None, "stable"),
        (0.09, 0.0, "stable"),
        (0.1, 0.0, "moderate"),
        (0.25, 0.0, "large"),
        (0.3, 0.34, "stable"),
        (0.4, 0.34, "large"),
    ],
)
def test_the_rule_of_thumb_counts_beyond_chance(index: float, chance: float | None, shift: str) -> None:
    assert judged(index, chance) == shift
