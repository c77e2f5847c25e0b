"""A histogram of scores by class that may leave a site: additive, on agreed edges, no cell too small.

Scores are logits, since these spread rare and common outcomes alike. The agreed edges divide [-8, 8] into 2^10 bins of
equal width, the outermost open. Fine bins would single patients out, so each class is told in cells of one or more
bins. Cells are made by halving: edges are tried from the coarsest to the finest, and one is set where on both sides,
up to the next edge, there is nobody of the class or at least the site's minimum of patients. Sites of different size
give cells of different width; all edges are agreed ones, so they can be pooled.
"""

from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from wardround.metrics.labelled_rows import FloatArray, IntArray, LabelledRows
from wardround.records.scores import Tally

SCORE_BINS = "score_bins"
DEPTH = 10
BINS = 2**DEPTH
_LIMIT = 8.0  # logits: probabilities from 0.0003 to 0.9997
CLASSES = ("negative", "positive")


@dataclass(frozen=True)
class Cells:
    """Cells of one class.

    Args:
        low, high: first bin of each cell, and the one after its last, [cells].
        count: rows in it, [cells].
        sum: of their probabilities, [cells].
    """

    low: IntArray
    high: IntArray
    count: IntArray
    sum: FloatArray


def score_bins(rows: LabelledRows, *, minimum_cell: int) -> Tally | None:
    """The histogram of a site's rows, with the sum of probabilities in each cell.

    Args:
        rows: with the patient of each.
        minimum_cell: fewest patients of a class in a cell that is not empty.

    Returns:
        Counts are named `positive_<low>_<high>` (rows) and `positive_sum_<low>_<high>` (probabilities), for the cell
        from bin `low` to before bin `high`, and `negative_...`. None without rows, or where a class as a whole has
        fewer patients than the minimum: then not even its number can be told.
    """
    bins = bin_of(rows.probabilities)
    counts: dict[str, float] = {}
    for label, name in enumerate(CLASSES):
        own = np.flatnonzero(rows.labels == label)  # in ascending order of probability, as `rows` is
        if not _may_leave(rows.patients[own], minimum_cell):
            return None
        for low, high, chosen in _cells(bins[own], rows.patients[own], minimum_cell):
            counts[f"{name}_{low}_{high}"] = float(chosen.stop - chosen.start)
            counts[f"{name}_sum_{low}_{high}"] = float(rows.probabilities[own][chosen].sum())
    return Tally(name=SCORE_BINS, counts=counts, n=rows.n) if rows.n else None


def read_cells(tally: Tally, name: str) -> Cells:
    """The cells of class `name` (`negative` or `positive`) in ascending order.

    Raises:
        ValueError: a count's name is none of `score_bins`, or a cell is none of the tree's.
    """
    found = []
    for key, count in tally.counts.items():
        kind, low, high = key.rsplit("_", 2)
        if kind not in (*CLASSES, *(f"{each}_sum" for each in CLASSES)) or not 0 <= int(low) < int(high) <= BINS:
            raise ValueError(f"{tally.name}: {key} is no cell of {BINS} bins")
        if kind == name:
            found.append((int(low), int(high), count, tally.counts[f"{name}_sum_{low}_{high}"]))
    columns = np.array(sorted(found), dtype=np.float64).reshape(-1, 4).T
    whole = np.round(columns[:3]).astype(np.int64)
    return Cells(whole[0], whole[1], whole[2], columns[3])


def bin_of(probabilities: FloatArray) -> IntArray:
    """The agreed bin of each probability, from 0 to `BINS` - 1."""
    with np.errstate(divide="ignore"):
        logits = np.log(probabilities) - np.log1p(-probabilities)
    place = np.clip((logits + _LIMIT) / (2 * _LIMIT), 0, 1)
    return np.minimum((place * BINS).astype(np.int64), BINS - 1)


def _cells(bins: IntArray, patients: IntArray, minimum: int) -> Iterator[tuple[int, int, slice]]:
    """Cells that hold a row: first bin, bin after the last, and the rows. `bins` ascend."""
    first = np.searchsorted(bins, np.arange(BINS + 1))  # the first row at or after each edge
    edges = [0, BINS]
    for depth in range(1, DEPTH + 1):
        width = 2 ** (DEPTH - depth)
        for edge in range(width, BINS, 2 * width):
            place = bisect_left(edges, edge)
            below = patients[first[edges[place - 1]] : first[edge]]
            above = patients[first[edge] : first[edges[place]]]
            if _may_leave(below, minimum) and _may_leave(above, minimum):
                insort(edges, edge)
    for low, high in pairwise(edges):
        if first[low] < first[high]:
            yield low, high, slice(int(first[low]), int(first[high]))


def _may_leave(patients: npt.NDArray[np.int64], minimum: int) -> bool:
    return patients.size == 0 or np.unique(patients).size >= minimum
