"""How far a distribution moved: the population stability index (PSI)."""

from collections.abc import Sequence
from math import log

import numpy as np
from scipy.stats import chi2

from wardround.metrics.bootstrap import RESAMPLES, patient_weights
from wardround.metrics.labelled_rows import FloatArray
from wardround.records.shared_monitoring import Shift

MODERATE, LARGE = 0.1, 0.25
"""The rule of thumb: below .1 stable, from .1 moderate, from .25 large (Siddiqi, Credit Risk Scorecards, 2006)."""

FEWEST_PATIENTS = 4
"""Between fewer nothing can be said of how patients differ."""

_LEVEL = 0.95
_SHARE = 1e-3  # of a patient's voxels, in a cell that no voxel is in


def stability_index(expected: Sequence[float], counts: Sequence[float], *, least: float = 0.5) -> float:
    """PSI = sum_b (a_b - e_b) ln(a_b / e_b), with a_b the shares of `counts`; 0 where all shares are equal.

    A cell that nobody is in counts as half a row, since the logarithm of 0 would hide every other cell.

    Args:
        expected: shares e_b by cell, each above 0.
        counts: by the same cells, not all 0.
        least: what a cell counts as at least.
    """
    total = sum(counts)
    shares = [max(count, least) / total for count in counts]
    return sum((a - e) * log(a / e) for a, e in zip(shares, expected, strict=True))


def chance_index(cells: int, rows: int, expected_rows: int) -> float:
    """What the index stays below in 95 of 100 samples where nothing moved.

    PSI / (1 / n + 1 / m) is then about chi-squared with cells - 1 degrees of freedom, for n and m rows (Yurdakul and
    Naranjo, Journal of Risk Model Validation 14(4), 2020): over 50 rows in 10 cells, .34 is chance.
    """
    return float(chi2.ppf(_LEVEL, max(cells - 1, 1))) * (1 / rows + 1 / expected_rows)


def index_of_shares(expected: Sequence[float], by_patient: FloatArray) -> float:
    """The index of shares that each patient's voxels or rows have in the cells.

    Args:
        expected: shares by cell, each above 0.
        by_patient: [patients, cells], each patient's shares, times how often it was imaged.
    """
    return stability_index(expected, by_patient.sum(axis=0).tolist(), least=_SHARE)


def chance_of_patients(by_patient: FloatArray, expected_patients: int, *, seed: int = 0) -> float | None:
    """What `index_of_shares` stays below in 95 of 100 samples of patients where nothing moved.

    Voxels of one patient are alike, so it is patients that are drawn: the index between resamples of them and all of
    them, whose 95th percentile is a sample's own part of chance. A resample of n patients varies by (n - 1) / n of what
    a sample does, and the m of training were a sample too, so that it is stretched by n / (n - 1) (1 + n / m): the
    index is a quadratic form of the difference, as in `chance_index`.

    Args:
        by_patient: as in `index_of_shares`.
        expected_patients: m.
        seed: of the draws.

    Returns:
        None for fewer than `FEWEST_PATIENTS`.
    """
    patients = len(by_patient)
    if patients < FEWEST_PATIENTS:
        return None
    drawn = np.concatenate(list(patient_weights(patients, seed=seed, resamples=RESAMPLES)))
    found, observed = (_shares(counts) for counts in (drawn @ by_patient, by_patient.sum(axis=0)))
    indices = ((found - observed) * np.log(found / observed)).sum(axis=1)
    stretch = patients / (patients - 1) * (1 + patients / expected_patients)
    return float(np.quantile(indices, _LEVEL)) * stretch


def judged(index: float, chance: float | None) -> Shift:
    """By the rule of thumb, and stable where chance explains it; None where nobody knows what chance does."""
    if index < MODERATE or (chance is not None and index <= chance):
        return "stable"
    if chance is None:
        return "too_few"
    return "large" if index >= LARGE else "moderate"


def _shares(counts: FloatArray) -> FloatArray:
    """By cell, the last axis, as `stability_index` has them."""
    return np.maximum(counts, _SHARE) / counts.sum(axis=-1, keepdims=True)
