"""Thresholds of alerts: chosen on validation rows, judged on others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from wardround.metrics.labelled_rows import LabelledRows
from wardround.metrics.score_bins import BINS, bin_of, is_edge, probability_at
from wardround.metrics.support import FEWEST_OF_A_CLASS
from wardround.records.alerts import AlertRow, Goal
from wardround.records.metric_record import MetricRecord, Status, suppressed, undefined
from wardround.records.scores import Tally

FIGURES = ("sensitivity", "specificity", "ppv", "npv", "alerts_per_100")
_Z = 1.959963984540054  # the normal distribution's 97.5 % quantile
_Mask = npt.NDArray[np.bool_]
EDGES = np.arange(1, BINS)
"""Of which thresholds are chosen."""


@dataclass(frozen=True)
class ChosenThreshold:
    """An alert is raised from the agreed edge of `score_bins` on; None, with a reason, where none reaches the target.

    Thresholds are edges, so that none is a patient's own probability, and an alert table counts nothing that the
    cells do not. Edges lie 1/64 apart in the logit: 0.00015 at a risk of 0.01, 0.004 at one half.
    """

    goal: Goal
    target: float
    edge: int | None
    reason: str | None = None

    @property
    def threshold(self) -> float | None:
        """The lowest probability that raises an alert."""
        return None if self.edge is None else probability_at(self.edge)


def choose(rows: LabelledRows, goals: Mapping[Goal, Sequence[float]]) -> list[ChosenThreshold]:
    """A threshold for each goal's targets.

    For a sensitivity the highest that still reaches it, which raises the fewest alerts; for a PPV, and for at most so
    many alerts per 100 rows, the lowest that keeps to it, which finds the most.

    Args:
        rows: validation rows.
        goals: `sensitivity` and `ppv` as shares, `alerts_per_100` rows.
    """
    few = min(rows.patients_with(0), rows.patients_with(1)) < FEWEST_OF_A_CLASS if rows.n else True
    chosen = []
    for goal, targets in goals.items():
        for target in targets:
            if few:
                chosen.append(ChosenThreshold(goal, target, None, "few_validation_patients"))
                continue
            reached = EDGES[_reaching(rows, goal, target)].tolist()
            if not reached:
                chosen.append(ChosenThreshold(goal, target, None, "target_not_reached"))
                continue
            chosen.append(ChosenThreshold(goal, target, max(reached) if goal == "sensitivity" else min(reached)))
    return chosen


def alert_rows(rows: LabelledRows, thresholds: Sequence[ChosenThreshold], *, cells: Tally | None) -> list[AlertRow]:
    """What each threshold does on other rows: one line of an alert table each.

    A line's figures and counts give its whole table of alerts by outcome. They are told where that table is a sum of
    cells that leave anyway, and held back, all of the line, where the threshold splits a cell.

    Args:
        cells: the `score_bins` of these rows; None where these are held back themselves.
    """
    table = []
    for chosen in thresholds:
        records: list[MetricRecord] = []
        if chosen.edge is not None:
            if rows.n and (cells is None or not is_edge(cells, chosen.edge)):
                records = [suppressed(name) for name in FIGURES]
            else:
                records = _records(rows, chosen.edge)
        table.append(
            AlertRow(
                goal=chosen.goal,
                target=chosen.target,
                threshold=chosen.threshold,
                reason=chosen.reason,
                records=records,
            )
        )
    return table


def wilson_interval(share: float, n: int) -> tuple[float, float]:
    """The 95 % score interval of a share of `n` independent observations (Wilson, JASA 22, 1927), without correction.

        (p + z^2 / 2n -+ z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n)

    Args:
        share: p, of 0 to 1; it need not be a whole number of n.
        n: 1 or more.
    """
    centre = share + _Z**2 / (2 * n)
    half = _Z * sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
    low, high = ((centre + side) / (1 + _Z**2 / n) for side in (-half, half))
    return min(max(low, 0.0), share), max(min(high, 1.0), share)


def _reaching(rows: LabelledRows, goal: Goal, target: float) -> _Mask:
    """Which of `EDGES` keep to a target; rows are in ascending order, so those from a place on are alerted."""
    first = np.searchsorted(bin_of(rows.probabilities), EDGES, side="left")
    alerted = rows.n - first
    found = rows.n_positive - np.concatenate([[0], np.cumsum(rows.labels)])[first]
    reaching: dict[str, Any] = {
        "sensitivity": found >= target * rows.n_positive,
        "ppv": (alerted > 0) & (found >= target * alerted),
        "alerts_per_100": alerted * 100 <= target * rows.n,
    }
    return np.asarray(reaching[goal], dtype=bool)


def _records(rows: LabelledRows, edge: int) -> list[MetricRecord]:
    """The figures with how many rows they are of, and how many of these count (`n_positive`).

    Intervals are Wilson's with as many observations as patients: as if all rows of a patient had one fate, which is
    about right with a row each, and too wide rather than too narrow with more. They are not resampled as other figures
    are: where a share is 0 or 1, as a good threshold's often is, every resample has it, and the interval would have no
    width. Below ten patients with the outcome there is
    none, as for the other figures.
    """
    alerted = bin_of(rows.probabilities) >= edge
    outcome = rows.labels == 1
    every = np.ones(rows.n, dtype=bool)
    shares = dict(
        zip(
            FIGURES,
            ((alerted, outcome), (~alerted, ~outcome), (outcome, alerted), (~outcome, ~alerted), (alerted, every)),
            strict=True,
        )
    )
    cells = [_patients(rows, alert & fate) for alert in (alerted, ~alerted) for fate in (outcome, ~outcome)]
    support = min((patients for patients in cells if patients), default=0)
    records = []
    for name, (what, among) in shares.items():
        base, counted, patients = int(among.sum()), int((what & among).sum()), _patients(rows, among)
        if not base:
            records.append(undefined(name, "no_cases", support=support))
            continue
        scale = 100 if name == "alerts_per_100" else 1
        low, high = wilson_interval(counted / base, patients)
        few = patients < FEWEST_OF_A_CLASS or rows.patients_with(1) < FEWEST_OF_A_CLASS
        records.append(
            MetricRecord(
                name=name,
                value=counted / base * scale,
                n=base,
                n_positive=counted,
                status=Status.LOW_SUPPORT if few else Status.OK,
                reason=f"fewer_than_{FEWEST_OF_A_CLASS}_patients" if few else None,
                interval=None if rows.patients_with(1) < FEWEST_OF_A_CLASS else (low * scale, high * scale),
                support=support,
            )
        )
    return records


def _patients(rows: LabelledRows, chosen: _Mask) -> int:
    return len(np.unique(rows.patients[chosen]))
