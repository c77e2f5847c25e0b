"""Resampling of patients, with all rows of each: how sure a figure is."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from wardround.metrics.labelled_rows import FloatArray, IntArray

RESAMPLES = 1000
_CELLS = 1_000_000  # of a chunk of weights, which bounds memory to some tens of MB


def patient_weights(
    patients: int, *, seed: int, resamples: int = RESAMPLES, width: int | None = None
) -> Iterator[npt.NDArray[np.int64]]:
    """How often each patient is drawn: chunks [some resamples, patients], together `resamples` of them.

    Each resample draws as many patients as there are, with replacement.

    Args:
        patients: how many there are.
        seed: of the draws; the chunks' size does not matter to them.
        resamples: how many.
        width: values that a caller keeps by resample, if more than patients; it bounds a chunk's size.
    """
    generator = np.random.default_rng(seed)
    chunk = max(1, min(resamples, _CELLS // max(patients, width or 0, 1)))
    for start in range(0, resamples, chunk):
        weights = np.empty((min(chunk, resamples - start), patients), np.int64)
        for row in weights:
            row[:] = np.bincount(generator.integers(0, patients, patients), minlength=patients)
        yield weights


def sums_by_patient(values: FloatArray, patients: IntArray, n_patients: int) -> FloatArray:
    """Adds up the rows of each patient: [rows, figures] to [patients, figures]."""
    sums = np.zeros((n_patients, values.shape[1]))
    np.add.at(sums, patients, values)
    return sums


def percentile_interval(values: FloatArray) -> tuple[float, float] | None:
    """The 95 % percentile interval; None where more than 1 in 40 resamples have no value, so that it has no end."""
    defined = values[np.isfinite(values)]
    if defined.size == 0 or defined.size < 0.975 * values.size:
        return None
    low, high = np.quantile(defined, [0.025, 0.975])
    return float(low), float(high)
