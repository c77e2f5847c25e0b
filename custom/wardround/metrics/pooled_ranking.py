"""AUROC and AUPRC over all sites' rows from their score bins, with the bounds that the bins imply."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from wardround.metrics.labelled_rows import FloatArray
from wardround.metrics.score_bins import place_of, read_cells
from wardround.records.scores import Tally

_EDGE = 0.25  # of a bin: keeps a row that is put at its cell's edge inside the cell
_APART = 1e-8  # of a bin, from one row to the next, so that they are not tied


@dataclass(frozen=True)
class Bounded:
    """An estimate, and what it is at least and at most, wherever in their cells the rows lie."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class PooledRanking:
    """How well scores rank over all rows of some sites.

    Args:
        auroc, auprc: over all pairs of rows, those of two sites too, so that they mix in the sites' prevalence; None
            where all rows are of one class.
        within_site_auroc: of pairs from one site alone, each site weighted by its pairs.
        n, n_positive: rows.
    """

    auroc: Bounded | None
    auprc: Bounded | None
    within_site_auroc: Bounded | None
    n: int
    n_positive: int


@dataclass(frozen=True)
class _Rows:
    """Scores in bins, in some order that the cells allow, with their labels."""

    scores: FloatArray
    labels: FloatArray


def pooled_ranking(by_site: Mapping[str, Tally]) -> PooledRanking:
    """Pools the score bins of sites.

    The estimate spreads a cell's rows evenly about their mean probability, as far as the cell reaches on both sides:
    outermost cells are wide, and their rows lie at the inner end. The bounds put all with the outcome to the upper edge
    of their cells and all without to the lower, and the other way round: no arrangement that the cells allow is better
    or worse. Rows with the outcome are tied at the upper edges, and not at the lower: average precision takes a tie's
    last rank for all of it, so that ties of such rows alone raise it.

    Args:
        by_site: `score_bins` tallies. Where every cell is one bin, the estimate is what the rows themselves give, but
            for rows that share one of the bins: these are spread in it, so that scores rounded to a few values, which
            are ties, pool to another average precision (within the bounds).
    """
    tallies = [by_site[site] for site in sorted(by_site)]
    spread = rows_of(tallies)
    positive = int(spread.labels.sum())
    if positive in (0, spread.labels.size):
        return PooledRanking(None, None, None, spread.labels.size, positive)
    rows = [spread, *(_at_edges(tallies, best=best) for best in (False, True))]
    return PooledRanking(
        auroc=Bounded(*map(_auroc, rows)),
        auprc=Bounded(*map(_average_precision, rows)),
        within_site_auroc=_within_sites(tallies),
        n=spread.labels.size,
        n_positive=positive,
    )


def precision_recall_curve(tally: Tally, *, points: int = 100) -> list[tuple[float, float]]:
    """Recall and precision from the highest threshold to the lowest, thinned to about `points`; empty for one class.

    Args:
        tally: a site's `score_bins`.
        points: how many at most.
    """
    from sklearn.metrics import precision_recall_curve as exact

    rows = rows_of([tally])
    if rows.labels.sum() in (0, rows.labels.size):
        return []
    precision, recall, _ = exact(rows.labels, rows.scores)
    chosen = np.unique(np.linspace(0, recall.size - 1, points).round().astype(int))
    return [(float(recall[at]), float(precision[at])) for at in chosen[::-1]]


def rows_of(tallies: Iterable[Tally]) -> _Rows:
    """Rows as the tallies have them, each cell's spread evenly about its mean."""
    scores, labels = [np.zeros(0)], [np.zeros(0)]
    for tally in tallies:
        for label, name in enumerate(("negative", "positive")):
            cells = read_cells(tally, name)
            means = place_of(np.clip(cells.sum / np.maximum(cells.count, 1), 0, 1))
            means = np.clip(means, cells.low + 0.5, cells.high - 0.5)
            reach = np.minimum(means - cells.low, cells.high - means)
            for mean, half, count in zip(means, reach, cells.count, strict=True):
                scores.append(mean + half * ((2 * np.arange(count) + 1) / count - 1))
                labels.append(np.full(count, float(label)))
    return _Rows(np.concatenate(scores), np.concatenate(labels))


def _at_edges(tallies: Iterable[Tally], *, best: bool) -> _Rows:
    scores, labels = [np.zeros(0)], [np.zeros(0)]
    for tally in tallies:
        for label, name in enumerate(("negative", "positive")):
            cells = read_cells(tally, name)
            at = np.repeat(cells.high - _EDGE if bool(label) == best else cells.low + _EDGE, cells.count)
            scores.append(at if best else at + _APART * np.arange(at.size))
            labels.append(np.full(at.size, float(label)))
    return _Rows(np.concatenate(scores), np.concatenate(labels))


def _within_sites(tallies: list[Tally]) -> Bounded | None:
    found, weights = [], []
    for tally in tallies:
        rows = [rows_of([tally]), *(_at_edges([tally], best=best) for best in (False, True))]
        positive = rows[0].labels.sum()
        pairs = positive * (rows[0].labels.size - positive)
        if pairs:
            found.append([_auroc(each) for each in rows])
            weights.append(pairs)
    return Bounded(*map(float, np.average(found, axis=0, weights=weights))) if found else None


def _auroc(rows: _Rows) -> float:
    from sklearn.metrics import roc_auc_score  # here, since a report without tables needs no scikit-learn

    return float(roc_auc_score(rows.labels, rows.scores))


def _average_precision(rows: _Rows) -> float:
    from sklearn.metrics import average_precision_score

    return float(average_precision_score(rows.labels, rows.scores))
