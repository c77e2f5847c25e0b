"""Platt scaling: the slope and the offset that make a classifier's logits fit what came true."""

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression

from wardround.metrics.labelled_rows import FloatArray


def fit_platt(logits: FloatArray, labels: npt.NDArray[np.uint8], *, ridge: float) -> tuple[float, float] | None:
    """(a, b) that minimise the log loss of sigmoid(a logit + b), summed over rows, + ridge a^2 / 2.

    Args:
        logits: [rows], finite.
        labels: [rows], 0 or 1.
        ridge: above 0, small: where a logit separates the classes the slope would have no end without it.

    Returns:
        None where there is one class alone, or where higher logits do not mean more often a 1: a slope of 0 or below
        would turn the ranking round.

    Source: Platt 1999, "Probabilistic outputs for support vector machines", without his smoothed labels.
    """
    if labels.min() == labels.max():
        return None
    model = LogisticRegression(C=1 / ridge).fit(logits[:, None], labels)
    slope, offset = float(model.coef_[0, 0]), float(model.intercept_[0])
    return (slope, offset) if slope > 0 else None


def log_losses(logits: FloatArray, labels: npt.NDArray[np.uint8]) -> FloatArray:
    """Log loss of each row, log(1 + exp(-z)) where its label is 1 and log(1 + exp(z)) where not."""
    losses: FloatArray = np.logaddexp(0, np.where(labels == 1, -logits, logits))
    return losses
