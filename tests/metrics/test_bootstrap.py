import numpy as np
import pytest
from scipy.stats import bootstrap

from wardround.metrics import bootstrap as resampling
from wardround.metrics.bootstrap import patient_weights, percentile_interval, sums_by_patient


def test_the_interval_of_a_mean_is_that_of_scipy():
    values = np.random.default_rng(4).normal(0.1, 0.3, 17)
    means = np.concatenate([weights @ values / 17 for weights in patient_weights(17, seed=9, resamples=2000)])
    theirs = bootstrap((values,), np.mean, n_resamples=2000, method="percentile", rng=np.random.default_rng(9))
    assert percentile_interval(means) == pytest.approx(tuple(theirs.confidence_interval), abs=1e-12)


def test_chunks_hold_the_same_draws_of_as_many_patients_as_there_are(monkeypatch):
    whole = np.concatenate(list(patient_weights(6, seed=3, resamples=50)))
    monkeypatch.setattr(resampling, "_CELLS", 40)
    chunks = list(patient_weights(6, seed=3, resamples=50, width=20))
    assert [len(chunk) for chunk in chunks] == [2] * 25
    np.testing.assert_array_equal(np.concatenate(chunks), whole)
    assert (whole.sum(axis=1) == 6).all()


def test_a_patients_rows_are_added_up():
    sums = sums_by_patient(np.array([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]]), np.array([2, 0, 2]), 3)
    assert sums.tolist() == [[2.0, 20.0], [0.0, 0.0], [5.0, 50.0]]


@pytest.mark.parametrize(("undefined", "has_ends"), [(0, True), (25, True), (26, False), (1000, False)])
def test_more_than_one_resample_in_40_without_a_value_leaves_no_interval(undefined, has_ends):
    values = np.arange(1000.0)
    values[:undefined] = np.nan
    assert (percentile_interval(values) is not None) == has_ends
