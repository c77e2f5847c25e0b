"""What sites' sums tell of calibration: reliability diagrams from score bins, and the exact pooled Brier score."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from wardround.metrics.labelled_rows import LabelledRows
from wardround.metrics.score_bins import BINS, CLASSES, read_cells
from wardround.records.scores import Tally

SQUARED_ERROR = "squared_error"


@dataclass(frozen=True)
class ReliabilityPoint:
    """A group of rows with similar probabilities: their mean, the share in which the outcome came, and how many."""

    probability: float
    observed: float
    n: int


def squared_error(rows: LabelledRows, *, minimum_cell: int) -> Tally | None:
    """Sum of squared errors of the probabilities, from which the Brier score pools exactly.

    None below the minimum of patients.
    """
    if rows.n_patients < minimum_cell:
        return None
    total = float(((rows.probabilities - rows.labels) ** 2).sum())
    return Tally(name=SQUARED_ERROR, counts={"sum": total}, n=rows.n, support=rows.n_patients)


def pooled_brier(tallies: Iterable[Tally]) -> float | None:
    """Brier score over all rows behind `squared_error` tallies; None without rows."""
    known = list(tallies)
    rows = sum(tally.n for tally in known)
    return sum(tally.counts["sum"] for tally in known) / rows if rows else None


def reliability(tallies: Sequence[Tally], *, groups: int = 10) -> list[ReliabilityPoint]:
    """Points of a reliability diagram, in ascending order of probability.

    Cells of both classes and of all sites are joined where they overlap, so that each point knows both its rows with
    the outcome and those without; neighbours then make up groups of similar size.

    Args:
        tallies: `score_bins` of one site, or of several.
        groups: how many points at most.
    """
    counts, positives, sums = np.zeros(BINS), np.zeros(BINS), np.zeros(BINS)
    inside = np.zeros(BINS + 1, dtype=bool)  # edges that lie inside some cell
    for tally in tallies:
        for name in CLASSES:
            cells = read_cells(tally, name)
            np.add.at(counts, cells.low, cells.count)
            np.add.at(sums, cells.low, cells.sum)
            if name == "positive":
                np.add.at(positives, cells.low, cells.count)
            for low, high in zip(cells.low, cells.high, strict=True):
                inside[low + 1 : high] = True
    starts = np.flatnonzero(~inside)[:-1]
    joined = np.column_stack([np.add.reduceat(column, starts) for column in (counts, positives, sums)])
    return [
        ReliabilityPoint(float(total / n), float(positive / n), int(n))
        for n, positive, total in _grouped(joined[joined[:, 0] > 0], groups)
    ]


def _grouped(bins: np.ndarray, groups: int) -> np.ndarray:
    """Neighbouring bins added up to `groups` of about equal count."""
    if not len(bins):
        return bins
    middle = np.cumsum(bins[:, 0]) - bins[:, 0] / 2
    group = np.minimum((middle / bins[:, 0].sum() * groups).astype(int), groups - 1)
    return np.add.reduceat(bins, np.flatnonzero(np.diff(group, prepend=-1)))
