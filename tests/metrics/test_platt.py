import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from wardround.metrics.platt import fit_platt, log_losses


def made(rows=500, *, slope=0.4, offset=-1.0):
    """Logits, and labels whose true logit is slope * logit + offset."""
    random = np.random.default_rng(2)
    logits = random.normal(0, 2, rows)
    return logits, (random.random(rows) < 1 / (1 + np.exp(-(slope * logits + offset)))).astype(np.uint8)


def test_with_next_to_no_ridge_it_is_plain_logistic_regression():
    logits, labels = made()
    plain = LogisticRegression(C=1e12, tol=1e-10).fit(logits[:, None], labels)
    assert fit_platt(logits, labels, ridge=1e-6) == pytest.approx((plain.coef_[0, 0], plain.intercept_[0]), abs=1e-3)


@pytest.mark.parametrize("ridge", [1e-3, 20.0])
def test_no_step_from_the_fit_lowers_the_loss_with_its_ridge(ridge):
    logits, labels = made()

    def loss(a, b):
        return log_losses(a * logits + b, labels).sum() + ridge * a**2 / 2

    slope, offset = fit_platt(logits, labels, ridge=ridge)
    steps = [(0.01, 0), (-0.01, 0), (0, 0.01), (0, -0.01)]
    assert all(loss(slope + a, offset + b) > loss(slope, offset) for a, b in steps)


def test_separated_classes_get_a_finite_slope():
    logits = np.linspace(-1, 1, 40)
    slope, _ = fit_platt(logits, (logits > 0).astype(np.uint8), ridge=1e-3)
    assert 10 < slope < 1e4


def test_one_class_and_a_ranking_the_wrong_way_round_have_no_fit():
    logits, labels = made()
    assert fit_platt(logits, np.ones_like(labels), ridge=1e-3) is None
    assert fit_platt(-logits, labels, ridge=1e-3) is None


def test_the_losses_of_rows_average_to_the_log_loss():
    logits, labels = made()
    assert log_losses(logits, labels).mean() == pytest.approx(log_loss(labels, 1 / (1 + np.exp(-logits))))
    assert log_losses(np.array([-800.0]), np.array([1], np.uint8)).tolist() == [800.0]
