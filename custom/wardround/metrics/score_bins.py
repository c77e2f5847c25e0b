"""A histogram of scores by class that may leave a site: additive, on agreed edges, no cell too small.

Scores are logits, since these spread rare and common outcomes alike. The agreed edges divide [-8, 8] into 2^10 bins of
equal width, the outermost open. Fine bins would single patients out, so each class is told in cells of one or more
bins. Edges are tried from the coarsest to the finest, and one is set where at least the site's minimum of patients of
the class are on both sides, up to the next edge. Sites of different size give cells of different width; all edges are
agreed ones, so they can be pooled.

That a side is empty is told at a few edges only, an eighth of the range apart, which is two logits. Were it told at
every edge, halving would shrink a cell to the bins of its lowest and highest patient, 1/64 of a logit wide. As it is,
the patient with the lowest or highest score may have any other of that eighth, with the same cells. These edges are
tried before others, since one that few patients part from an edge just beside it would tell where those are. What
cells do tell: that fewer than the minimum lie between an edge and one that was not set.

Whatever else is counted above some score, such as alerts, has to be counted at an edge of these cells: a count at
another place gives, less that of the cells, how many of a cell lie above it. Such edges are tried before agreed ones.
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
_COARSE = BINS // 8  # from an edge where an empty side is told to the next, two logits: a risk of 0.1, or of 0.45
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
        first: edges, from 1 to `BINS` - 1, that are set before others where the cells of both classes allow it.

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
    coarse = _where_empty_is_told(first) if minimum_cell > 1 else set(_HALVES)
    for empty, edges in ((True, coarse), (False, set(_HALVES) - coarse)):
        for edge in first:
            if edge in edges and all(one.allows(edge, empty=empty) for one in classes):
                for one in classes:
                    one.set(edge)
        for one in classes:
            one.halve(edges, empty=empty)
    counts: dict[str, float] = {}
    fewest = rows.n_patients
    for name, one in zip(CLASSES, classes, strict=True):
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
    return np.minimum(place_of(probabilities).astype(np.int64), BINS - 1)


def place_of(probabilities: FloatArray) -> FloatArray:
    """Where among the bins each probability lies, from 0 to `BINS`: 3.5 is the middle of bin 3."""
    with np.errstate(divide="ignore"):
        logits = np.log(probabilities) - np.log1p(-probabilities)
    place: FloatArray = np.clip((logits + _LIMIT) / (2 * _LIMIT), 0, 1) * BINS
    return place


def _halves() -> Iterator[int]:
    for depth in range(1, DEPTH + 1):
        width = 2 ** (DEPTH - depth)
        yield from range(width, BINS, 2 * width)


_HALVES = tuple(_halves())  # all edges, in the order of trying


def _where_empty_is_told(first: Collection[int]) -> set[int]:
    """Edges that are `_COARSE` from each other and from the ends: of `first`, and of eighths where there is room."""
    found = [0, BINS]
    for edge in (*first, *range(_COARSE, BINS, _COARSE)):
        if all(abs(edge - other) >= _COARSE for other in found):
            found.append(edge)
    return set(found[2:])


class _Edges:
    """The edges of one class's cells: those set so far, and whether another may be."""

    def __init__(self, bins: IntArray, patients: IntArray, probabilities: FloatArray, minimum: int) -> None:
        """`bins` ascend."""
        self._first = np.searchsorted(bins, np.arange(BINS + 1))  # the first row at or after each edge
        self._patients, self._probabilities, self._minimum = patients, probabilities, minimum
        self._edges = [0, BINS]

    def allows(self, edge: int, *, empty: bool) -> bool:
        """Whether both sides hold patients enough; with `empty`, or none."""
        if edge in self._edges:
            return True
        place, first = bisect_left(self._edges, edge), self._first
        below = self._patients[first[self._edges[place - 1]] : first[edge]]
        above = self._patients[first[edge] : first[self._edges[place]]]
        return all(_may_leave(side, self._minimum) if side.size else empty for side in (below, above))

    def set(self, edge: int) -> None:
        if edge not in self._edges:
            insort(self._edges, edge)

    def halve(self, edges: Collection[int], *, empty: bool) -> None:
        for edge in _HALVES:
            if edge in edges and self.allows(edge, empty=empty):
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
