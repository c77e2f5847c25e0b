"""Paired changes against Student's interval by hand, and how often one that is none looks like one."""

from statistics import fmean

import numpy as np
import pytest
from scipy import stats

from wardround.metrics.paired_change import PairedChange, mean_change
from wardround.records.scores import CaseScore


def _cases(values: list[float | None], patients: list[str] | None = None) -> list[CaseScore]:
    whose = patients or [f"p{place}" for place in range(len(values))]
    return [
        CaseScore(case=f"c{place}", patient=patient, values={"dice_mean": value})
        for place, (patient, value) in enumerate(zip(whose, values, strict=True))
    ]


def test_the_interval_is_that_of_the_paired_t_test() -> None:
    generator = np.random.default_rng(0)
    before, now = generator.normal(0.7, 0.1, 12), generator.normal(0.65, 0.1, 12)
    change = mean_change("dice_mean", _cases(list(now)), _cases(list(before)))
    assert change is not None
    for level in (0.95, 0.999):
        low, high = stats.ttest_rel(now, before).confidence_interval(level)
        assert change.difference - change.allowance(level) == pytest.approx(low)
        assert change.difference + change.allowance(level) == pytest.approx(high)


def test_cases_of_one_patient_count_once_and_undefined_ones_not_at_all() -> None:
    whose = ["a", "a", "b", "c", "d"]
    before = _cases([0.5, 0.5, 0.5, 0.5, None], whose)
    change = mean_change("dice_mean", _cases([0.7, 0.9, 0.5, 0.6, 0.1], whose), before)
    assert change is not None
    assert (change.patients, change.difference) == (3, pytest.approx(fmean([0.3, 0, 0.1])))
    assert mean_change("dice_mean", before[:2], before[:2]) is None
    assert mean_change("dice_wt", before, before) is None


def test_an_allowance_grows_with_the_level_and_shrinks_with_patients() -> None:
    few, many = PairedChange("x", 0, 1, 8), PairedChange("x", 0, 1, 1000)
    assert few.allowance(0.999) > few.allowance(0.95) > many.allowance(0.95) == pytest.approx(1.96, abs=0.01)
