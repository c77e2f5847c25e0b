import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from wardround.metrics.calibration import (
    WeightedCalibration,
    calibration_line,
    intercept_at_slope_one,
    no_slope_because,
)
from wardround.metrics.labelled_rows import labelled_rows


def _rows(n=400, stretch=2.0, shift=0.5, seed=0):
    generator = np.random.default_rng(seed)
    x = generator.normal(-1, 1, n)
    return labelled_rows(expit(stretch * x + shift), (generator.random(n) < expit(x)).astype(int))


def test_the_line_is_the_unpenalised_logistic_regression():
    rows = _rows()
    model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(logit(rows.probabilities)[:, None], rows.labels)
    assert calibration_line(rows) == pytest.approx((model.intercept_[0], model.coef_[0, 0]), abs=1e-4)


def test_probabilities_twice_too_extreme_have_a_slope_of_one_half():
    assert calibration_line(_rows(40_000))[1] == pytest.approx(0.5, abs=0.02)


def test_the_intercept_brings_the_mean_probability_to_the_prevalence():
    rows = _rows(stretch=1.0, shift=1.0)
    intercept = intercept_at_slope_one(rows)
    assert expit(logit(rows.probabilities) + intercept).mean() == pytest.approx(rows.labels.mean(), abs=1e-9)
    assert intercept < -0.5  # the probabilities are too high


@pytest.mark.parametrize(
    ("probabilities", "labels", "reason"),
    [
        ([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1], "classes_separable"),
        ([0.1, 0.2, 0.2, 0.9], [1, 1, 0, 0], "classes_separable"),
        ([0.3, 0.3, 0.3, 0.3], [0, 1, 0, 1], "constant_probability"),
        ([0.1, 0.2, 0.8, 0.9], [1, 1, 1, 1], "one_class"),
        ([0.1, 0.2, 0.8, 0.9], [0, 1, 0, 1], None),
    ],
)
def test_a_slope_that_is_not_finite_is_told_why(probabilities, labels, reason):
    assert no_slope_because(labelled_rows(probabilities, labels)) == reason


def test_weighted_fits_are_those_of_the_repeated_rows():
    rows = _rows(200)
    weights = np.random.default_rng(1).poisson(1.0, (10, 200)).astype(float)
    fits = WeightedCalibration(rows)
    for weight, slope, intercept in zip(weights, fits.slopes(weights), fits.intercepts(weights), strict=True):
        repeated = labelled_rows(
            np.repeat(rows.probabilities, weight.astype(int)), np.repeat(rows.labels, weight.astype(int))
        )
        assert slope == pytest.approx(calibration_line(repeated)[1], abs=1e-4)
        assert intercept == pytest.approx(intercept_at_slope_one(repeated), abs=1e-4)


def test_certain_probabilities_have_finite_figures():
    rows = labelled_rows([0.0, 1.0, 0.0, 1.0, 0.5, 0.5], [0, 1, 1, 0, 0, 1])
    assert np.isfinite([*calibration_line(rows), intercept_at_slope_one(rows)]).all()
