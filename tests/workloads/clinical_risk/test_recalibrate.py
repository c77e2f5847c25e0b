import numpy as np
import pytest
import torch
from sklearn.isotonic import IsotonicRegression
from torch import nn

from wardround.workloads.clinical_risk.recalibrate import Isotonic, Platt, Recalibrated, fit_isotonic, recalibrated


class Raw(nn.Module):
    """A network whose logit is its input."""

    def __init__(self):
        super().__init__()
        self.unused = nn.Parameter(torch.zeros(1))

    def forward(self, inputs):
        return inputs


def made(rows, *, seed=0, slope=1.0, intercept=0.0):
    """Logits, and labels whose true logit is slope * logit + intercept."""
    random = np.random.default_rng(seed)
    logits = random.normal(0, 1.5, rows)
    labels = random.random(rows) < 1 / (1 + np.exp(-(slope * logits + intercept)))
    return logits, labels.astype(np.uint8), [f"p{place}" for place in range(rows)]


def test_overconfident_logits_are_scaled_down():
    corrected = recalibrated(Raw(), *made(999, seed=1, slope=0.4, intercept=-1))
    assert isinstance(corrected.correction, Platt)
    assert corrected.correction.slope.item() == pytest.approx(0.4, abs=0.15)
    assert corrected.correction.intercept.item() == pytest.approx(-1, abs=0.25)
    inputs = torch.tensor([[0.0], [1.0]])
    assert corrected(inputs).shape == (2, 1)


def test_a_bent_curve_takes_isotonic_regression_where_rows_are_many():
    logits, _, patients = made(4000)
    random = np.random.default_rng(5)
    labels = (random.random(4000) < np.where(logits > 0, 0.9, 0.2)).astype(np.uint8)
    corrected = recalibrated(Raw(), logits, labels, patients)
    assert isinstance(corrected.correction, Isotonic)
    few = recalibrated(Raw(), logits[:999], labels[:999], patients[:999])
    assert isinstance(few.correction, Platt)


def test_the_isotonic_curve_is_that_of_scikit_learn_and_never_certain():
    logits, labels, _ = made(1500)
    ours = fit_isotonic(logits, labels)
    margin = 1 / 1502
    theirs = IsotonicRegression(y_min=margin, y_max=1 - margin, out_of_bounds="clip").fit(logits, labels)
    asked = np.linspace(-9, 9, 301)
    given = ours(torch.from_numpy(asked).float()[:, None]).sigmoid()[:, 0].numpy()
    np.testing.assert_allclose(given, theirs.predict(asked.astype(np.float32)), atol=1e-4)
    assert given.min() >= margin * 0.999
    assert given.max() <= 1 - margin * 0.999
    assert (np.diff(given) >= -1e-6).all()


def test_calibrated_logits_stay_as_they_are():
    kept = [recalibrated(Raw(), *made(300, seed=seed)) for seed in range(8)]
    assert sum(one is None for one in kept) >= 4


@pytest.mark.parametrize("positive", [0, 9])
def test_too_few_of_a_class_give_no_correction(positive):
    logits, labels, patients = made(100, slope=0.2)
    labels[:] = 0
    labels[:positive] = 1
    assert recalibrated(Raw(), logits, labels, patients) is None
    assert recalibrated(Raw(), logits, 1 - labels, patients) is None


def test_several_rows_of_a_patient_are_one_of_the_fewest():
    logits, labels, patients = made(100, slope=0.2)
    order = np.argsort(labels)
    positive = order[-9 * 4 :]
    labels[:], labels[positive] = 0, 1
    logits[:], logits[positive] = np.linspace(-4, 1, 100), np.linspace(-1, 4, 36)
    assert recalibrated(Raw(), logits * 5, labels, patients) is not None
    nine = np.asarray(patients, dtype=object)
    nine[positive] = [f"q{place // 4}" for place in range(36)]
    assert recalibrated(Raw(), logits * 5, labels, list(nine)) is None
    negatives = 1 - labels
    assert recalibrated(Raw(), -logits * 5, negatives, list(nine)) is None


def test_a_ranking_is_never_turned_round():
    logits, labels, patients = made(400, slope=-1)
    assert recalibrated(Raw(), logits, labels, patients) is None


def test_rows_of_one_patient_are_no_evidence():
    logits, labels, _ = made(400, slope=0.2)
    assert recalibrated(Raw(), logits, labels, ["only"] * 400) is None


def test_separated_classes_give_finite_logits():
    logits = np.linspace(-3, 3, 60)
    corrected = recalibrated(Raw(), logits, (logits > 0).astype(np.uint8), [str(place) for place in range(60)])
    assert isinstance(corrected, Recalibrated)
    assert corrected(torch.from_numpy(logits).float()[:, None]).isfinite().all()


def test_a_good_network_is_seldom_touched_and_a_bad_one_is():
    good = [recalibrated(Raw(), *made(60, seed=seed)) for seed in range(20)]
    assert sum(found is not None for found in good) <= 4
    bad = [recalibrated(Raw(), *made(200, seed=seed, slope=0.3, intercept=-1.0)) for seed in range(20)]
    assert sum(found is not None for found in bad) >= 18
