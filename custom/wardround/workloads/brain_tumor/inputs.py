"""Histograms of image intensities by sequence, as the network gets them."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from wardround.workloads.brain_tumor.prepared import PreparedCase
from wardround.workloads.input_cells import InputColumn

LOWEST, HIGHEST, STEPS = -4.0, 8.0, 48
"""In standard deviations of a brain's voxels, a quarter each; what lies beyond counts to the first or last."""

MISSING = "missing"
_MOST_VOXELS = 200_000  # of a sequence, at even steps: a histogram of them is exact to a thousandth


def input_columns(sequences: Sequence[str]) -> list[InputColumn]:
    """Each sequence; the last position is that of a case without it."""
    edges = tuple(np.linspace(LOWEST, HIGHEST, STEPS + 1).tolist())
    return [InputColumn(name, (*[""] * STEPS, MISSING), edges, "sd", sampled=False) for name in sequences]


def shares_by_patient(
    cases: Sequence[PreparedCase], sequences: Sequence[str]
) -> Iterator[tuple[InputColumn, NDArray[np.float64]]]:
    """Shares of each case's brain voxels by intensity, summed by patient: [patients, positions], by sequence.

    Each case counts 1, whatever its size. Voxels of 0 are background.
    """
    patients = sorted({case.patient for case in cases})
    counts = np.zeros((len(sequences), len(patients), STEPS + 1))
    for case in cases:
        whose = patients.index(case.patient)
        for place, name in enumerate(sequences):
            voxels = case.image[place].reshape(-1)
            voxels = voxels[:: max(1, voxels.size // _MOST_VOXELS)]
            voxels = voxels[voxels != 0]
            if name in case.missing or not voxels.size:
                counts[place, whose, STEPS] += 1
                continue
            clipped = np.clip(voxels, LOWEST, np.nextafter(HIGHEST, LOWEST))
            found = np.histogram(clipped, bins=STEPS, range=(LOWEST, HIGHEST))[0]
            counts[place, whose, :STEPS] += found / found.sum()
    yield from zip(input_columns(sequences), counts, strict=True)
