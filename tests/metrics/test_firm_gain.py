import numpy as np
import pytest

from wardround.metrics.firm_gain import firm_gain

PATIENTS = np.array([f"p{row}" for row in range(100)])


def test_a_gain_beyond_its_standard_error_is_told_as_its_mean() -> None:
    before = np.linspace(0.5, 1.0, 100)
    assert firm_gain(before, before - 0.1, PATIENTS) == pytest.approx(0.1)


def test_a_loss_or_a_gain_within_the_error_is_none() -> None:
    before = np.full(100, 0.7)
    noise = np.random.default_rng(0).normal(0, 1, 100)
    noise -= noise.mean()
    error = noise.std(ddof=1) / 10
    assert firm_gain(before, before + 0.1, PATIENTS) is None
    assert firm_gain(before, before - 0.9 * error + noise, PATIENTS) is None
    assert firm_gain(before, before - 1.1 * error + noise, PATIENTS) == pytest.approx(1.1 * error)


def test_a_patients_rows_count_once() -> None:
    before, after = np.array([1.0, 1.0, 1.0, 1.0]), np.array([0.0, 0.0, 0.0, 0.9])
    assert firm_gain(before, after, np.array(["a", "a", "a", "b"])) == pytest.approx(0.55)
    assert firm_gain(before, after, np.array(["a"] * 4)) is None
