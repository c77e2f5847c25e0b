"""A histogram of scores by class that may leave a site: additive, on agreed edges, no cell too small.

Scores are logits, since these spread rare and common outcomes alike. The agreed edges divide [-8, 8] into 2^10 bins of
equal width, the outermost open. Fine bins would single patients out, so each class is told in cells of one or more
bins. Edges are tried from the coarsest to the finest, and one is set where on both sides, up to the next edge, there
is nobody of the class or at least the site's minimum of patients. Sites of different size give cells of different
width; all edges are agreed ones, so they can be pooled.

Whatever else is counted above some score, such as alerts, has to be counted at an edge of these cells: a count at
another place gives, less that of the cells, how many of a cell lie above it. Such edges are tried first.
"""

from bisect import bisect_left, insort
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import exp

import numpy as np

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


def score_bins(rows: LabelledRows, *, minimum_cell: int, first: Collection[int] = ()) -> Tally | None:
    """The histogram of a site's rows, with the sum of probabilities in each cell.

    Args:
        rows: with the patient of each.
        minimum_cell: fewest patients of a class in a cell that is not empty.
        first: edges, from 1 to `BINS` - 1, that are set before all others where the cells of both classes allow it.

    Returns:
        Counts are named `positive_<low>_<high>` (rows) and `positive_sum_<low>_<high>` (probabilities), for the cell
        from bin `low` to before bin `high`, and `negative_...`. None without rows, or where a class as a whole has
        fewer patients than the minimum: then not even its number can be told. `support` is the smallest cell's.
    """
    if not rows.n:
        return None
    bins = bin_of(rows.probabilities)
    classes = []
    for label in range(len(CLASSES)):
        own = np.flatnonzero(rows.labels == label)  # in ascending order of probability, as `rows` is
        if not _may_leave(rows.patients[own], minimum_cell):
            return None
        classes.append(_Edges(bins[own], rows.patients[own], rows.probabilities[own], minimum_cell))
    for edge in first:
        if all(one.allows(edge) for one in classes):
            for one in classes:
                one.set(edge)
    counts: dict[str, float] = {}
    fewest = rows.n_patients
    for name, one in zip(CLASSES, classes, strict=True):
        one.halve()
        for low, high, count, total, patients in one.cells():
            fewest = min(fewest, patients)
            counts[f"{name}_{low}_{high}"] = float(count)
            counts[f"{name}_sum_{low}_{high}"] = total
    return Tally(name=SCORE_BINS, counts=counts, n=rows.n, support=fewest)


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


def is_edge(tally: Tally, edge: int) -> bool:
    """Whether no cell of either class reaches from below `edge` to above it."""
    both = [read_cells(tally, name) for name in CLASSES]
    return not any(((cells.low < edge) & (edge < cells.high)).any() for cells in both)


def probability_at(edge: int) -> float:
    """The lowest probability in bin `edge`."""
    return 1 / (1 + exp(_LIMIT - 2 * _LIMIT * edge / BINS))


def bin_of(probabilities: FloatArray) -> IntArray:
    """The agreed bin of each probability, from 0 to `BINS` - 1."""
    with np.errstate(divide="ignore"):
        logits = np.log(probabilities) - np.log1p(-probabilities)
    place = np.clip((logits + _LIMIT) / (2 * _LIMIT), 0, 1)
    return np.minimum((place * BINS).astype(np.int64), BINS - 1)


class _Edges:
    """The edges of one class's cells: those set so far, and whether another may be."""

    def __init__(self, bins: IntArray, patients: IntArray, probabilities: FloatArray, minimum: int) -> None:
        """`bins` ascend."""
        self._first = np.searchsorted(bins, np.arange(BINS + 1))  # the first row at or after each edge
        self._patients, self._probabilities, self._minimum = patients, probabilities, minimum
        self._edges = [0, BINS]

    def allows(self, edge: int) -> bool:
        if edge in self._edges:
            return True
        place, first = bisect_left(self._edges, edge), self._first
        below = self._patients[first[self._edges[place - 1]] : first[edge]]
        above = self._patients[first[edge] : first[self._edges[place]]]
        return _may_leave(below, self._minimum) and _may_leave(above, self._minimum)

    def set(self, edge: int) -> None:
        if edge not in self._edges:
            insort(self._edges, edge)

    def halve(self) -> None:
        for depth in range(1, DEPTH + 1):
            width = 2 ** (DEPTH - depth)
            for edge in range(width, BINS, 2 * width):
                if self.allows(edge):
                    self.set(edge)

    def cells(self) -> Iterator[tuple[int, int, int, float, int]]:
        """Those that hold a row: first bin, bin after the last, rows, the sum of their probabilities, patients."""
        for low, high in pairwise(self._edges):
            start, stop = self._first[low], self._first[high]
            if start < stop:
                patients = int(np.unique(self._patients[start:stop]).size)
                yield low, high, int(stop - start), float(self._probabilities[start:stop].sum()), patients


def _may_leave(patients: IntArray, minimum: int) -> bool:
    return patients.size == 0 or np.unique(patients).size >= minimum
