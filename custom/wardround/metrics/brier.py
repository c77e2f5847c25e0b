"""The Brier score, its skill against the prevalence, and the parts that add up to it.

Over bins k of rows with mean probability f_k and observed share o_k, and with the prevalence o (Murphy 1973, with the
within-bin term of Stephenson, Coelho & Jolliffe, Weather and Forecasting 23, 2008):

    Brier = reliability - resolution + uncertainty + within_bin
    reliability = sum n_k (f_k - o_k)^2 / n       how far probabilities are from what is observed
    resolution  = sum n_k (o_k - o)^2 / n         how far bins differ from one another: more is better
    uncertainty = o (1 - o)                       what always predicting the prevalence scores
    within_bin  = variance of f within bins - 2 covariance of f and label within bins
"""

from dataclasses import dataclass

import numpy as np

from wardround.metrics.labelled_rows import FloatArray, IntArray, LabelledRows

BINS = 10
_SUMS = 5  # rows, probabilities, labels, squared probabilities, products


@dataclass(frozen=True)
class BrierParts:
    """Each a number, or an array over resamples."""

    brier: FloatArray
    skill: FloatArray
    reliability: FloatArray
    resolution: FloatArray
    within_bin: FloatArray
    uncertainty: FloatArray
    calibration_error: FloatArray


def equal_mass_bins(rows: LabelledRows, bins: int = BINS) -> IntArray:
    """Bin of each row, by the decile of its probability; rows of equal probability share a bin, so a bin can be empty.

    Returns:
        [rows], 0 to bins - 1.
    """
    _, inverse, counts = np.unique(rows.probabilities, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts / 2
    return np.minimum((bins * middle / max(rows.n, 1)).astype(np.int64), bins - 1)[inverse]


def bin_sums(rows: LabelledRows, bins: IntArray) -> FloatArray:
    """What `brier_parts` needs, by row, so that sums over any rows, or weighted ones, are matrix products.

    Returns:
        [rows, BINS * 5].
    """
    probabilities, labels = rows.probabilities, rows.labels.astype(np.float64)
    values = np.stack(
        [np.ones(rows.n), probabilities, labels, probabilities**2, probabilities * labels], axis=1
    )  # [rows, 5]
    sums = np.zeros((rows.n, BINS, _SUMS))
    sums[np.arange(rows.n), bins] = values
    return sums.reshape(rows.n, BINS * _SUMS)


def brier_parts(sums: FloatArray) -> BrierParts:
    """The score and its parts.

    Args:
        sums: [..., BINS * 5], of `bin_sums` over rows. At least one row each.

    Returns:
        Each [...]; the skill 1 - Brier / (o (1 - o)) is NaN where only one class is there. The calibration error is
        the expected one, sum n_k |f_k - o_k| / n, over the same bins.
    """
    count, probability, label, squared, product = np.moveaxis(sums.reshape(*sums.shape[:-1], BINS, _SUMS), -1, 0)
    n = count.sum(axis=-1)
    prevalence = label.sum(axis=-1) / n
    filled = np.maximum(count, 1)  # an empty bin's sums are 0, and so is all that it adds
    mean, observed = probability / filled, label / filled
    variance = squared - count * mean**2
    covariance = product - count * mean * observed
    uncertainty = prevalence * (1 - prevalence)
    brier = (squared - 2 * product + label).sum(axis=-1) / n
    with np.errstate(invalid="ignore", divide="ignore"):
        skill = np.where(uncertainty > 0, 1 - brier / uncertainty, np.nan)
    return BrierParts(
        brier=brier,
        skill=skill,
        reliability=(count * (mean - observed) ** 2).sum(axis=-1) / n,
        resolution=(count * (observed - prevalence[..., None]) ** 2).sum(axis=-1) / n,
        within_bin=(variance - 2 * covariance).sum(axis=-1) / n,
        uncertainty=uncertainty,
        calibration_error=(count * np.abs(mean - observed)).sum(axis=-1) / n,
    )
