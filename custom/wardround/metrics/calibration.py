"""Whether probabilities are of the right size: the calibration line, its slope and its intercept.

With x = logit(probability), `slope` is b of the logistic regression label ~ a + b x (Cox 1958): below 1 the
probabilities are too extreme, above 1 too timid. `intercept` is a of label ~ a + x, at slope 1, also called calibration
in the large: below 0 the probabilities are too high, above 0 too low (Van Calster et al., BMC Medicine 17, 2019).
"""

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import expit, logit

from wardround.metrics.labelled_rows import FloatArray, LabelledRows

SMALLEST = 1e-6  # probabilities of 0 and 1 have no logit: they are taken as this far inside
_STEPS = 40
_CLOSE = 1e-3  # Newton's next error is about the square of its last step


def logits(probabilities: FloatArray) -> FloatArray:
    """log(p / (1 - p)), with p held between 1e-6 and 1 - 1e-6."""
    values: FloatArray = logit(np.clip(probabilities, SMALLEST, 1 - SMALLEST))
    return values


def no_slope_because(rows: LabelledRows) -> str | None:
    """Why there is no finite slope, or None where there is one."""
    if rows.n_positive in (0, rows.n):
        return "one_class"
    x = logits(rows.probabilities)
    if x[0] == x[-1]:
        return "constant_probability"
    positive, negative = x[rows.labels == 1], x[rows.labels == 0]
    if positive.min() >= negative.max() or negative.min() >= positive.max():
        return "classes_separable"
    return None


def intercept_at_slope_one(rows: LabelledRows) -> float:
    """The intercept with which mean probability and prevalence agree. Both classes must be there."""
    x = logits(rows.probabilities)
    return float(brentq(lambda a: float((rows.labels - expit(a + x)).sum()), -60.0, 60.0, xtol=1e-12))


def calibration_line(rows: LabelledRows) -> tuple[float, float]:
    """(a, b) of label ~ a + b x by Newton's method, without a penalty, where `no_slope_because` is None."""
    x, y = logits(rows.probabilities), rows.labels.astype(np.float64)
    line = np.array([0.0, 1.0])
    design = np.stack([np.ones_like(x), x], axis=1)
    likelihood = _log_likelihood(design @ line, y)
    for _ in range(_STEPS):
        mean = expit(design @ line)
        curvature = design.T @ (design * (mean * (1 - mean))[:, None])
        step = np.linalg.solve(curvature + 1e-12 * np.eye(2), design.T @ (y - mean))
        for _ in range(_STEPS):  # halved until it does not go downhill
            moved = _log_likelihood(design @ (line + step), y)
            if moved >= likelihood - 1e-12:
                break
            step = step / 2
        line, likelihood = line + step, moved
        if np.abs(step).max() < 1e-10:
            break
    return float(line[0]), float(line[1])


class WeightedCalibration:
    """Slope and intercept of the same rows under many weightings, by Newton's method from those without weights."""

    def __init__(self, rows: LabelledRows) -> None:
        self._x = logits(rows.probabilities)
        self._labels = rows.labels.astype(np.float64)
        self._line = calibration_line(rows) if no_slope_because(rows) is None else None
        self._intercept = intercept_at_slope_one(rows)

    def slopes(self, weights: FloatArray) -> FloatArray:
        """[weightings]; NaN where the weighted rows have no finite slope.

        Args:
            weights: [weightings, rows].
        """
        if self._line is None:
            return np.full(len(weights), np.nan)
        return self._newton(weights, np.array(self._line), free_slope=True)[:, 1]

    def intercepts(self, weights: FloatArray) -> FloatArray:
        """[weightings], at slope 1; NaN where the weighted rows are of one class."""
        return self._newton(weights, np.array([self._intercept, 1.0]), free_slope=False)[:, 0]

    def _newton(self, weights: FloatArray, start: FloatArray, *, free_slope: bool) -> FloatArray:
        x, labels = self._x, self._labels
        powers = np.stack([np.ones_like(x), x, x**2], axis=1)
        lines = np.tile(start, (len(weights), 1))
        positives = weights @ labels
        lines[(positives == 0) | (positives == weights.sum(axis=1))] = np.nan
        open_: npt.NDArray[np.int64] = np.flatnonzero(np.isfinite(lines[:, 0]))
        for turn in range(_STEPS):
            if not open_.size:
                break
            if turn == 0:  # all start from one line, so the first step is a matrix product
                mean = expit(start[0] + start[1] * x)
                gradient = weights[open_] @ ((labels - mean)[:, None] * powers[:, :2])
                curvature = weights[open_] @ ((mean * (1 - mean))[:, None] * powers)
            else:
                chosen = weights if open_.size == len(weights) else weights[open_]
                means = expit(lines[open_, :1] + lines[open_, 1:] * x)
                gradient = (chosen * (labels - means)) @ powers[:, :2]
                curvature = (chosen * (means * (1 - means))) @ powers
            step = _step(gradient, curvature, free_slope=free_slope)
            lines[open_] += step
            lost = ~np.isfinite(step).all(axis=1) | (np.abs(lines[open_]) > 1e3).any(axis=1)
            lines[open_[lost]] = np.nan
            open_ = open_[~lost & (np.abs(step).max(axis=1) > _CLOSE)]
        lines[open_] = np.nan
        return lines


def _step(gradient: FloatArray, curvature: FloatArray, *, free_slope: bool) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):
        if not free_slope:
            return np.stack([gradient[:, 0] / curvature[:, 0], np.zeros(len(gradient))], axis=1)
        level, mixed, slope = curvature.T
        determinant = level * slope - mixed**2
        return (
            np.stack(
                [
                    slope * gradient[:, 0] - mixed * gradient[:, 1],
                    level * gradient[:, 1] - mixed * gradient[:, 0],
                ],
                axis=1,
            )
            / determinant[:, None]
        )


def _log_likelihood(x: FloatArray, labels: FloatArray) -> float:
    return float((labels * x - np.logaddexp(0, x)).sum())
