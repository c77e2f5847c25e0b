"""Thresholds of alerts: chosen on validation rows, judged on others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from wardround.metrics.labelled_rows import FloatArray, LabelledRows
from wardround.records.alerts import AlertRow, Goal
from wardround.records.metric_record import MetricRecord, Status, undefined

FEWEST = 10  # patients that a figure rests on, and patients with and without the outcome to choose a threshold
FIGURES = ("sensitivity", "specificity", "ppv", "npv", "alerts_per_100")
_Z = 1.959963984540054  # the normal distribution's 97.5 % quantile
_Mask = npt.NDArray[np.bool_]


def _grid() -> FloatArray:
    tail = np.concatenate([np.arange(1, 100), np.arange(100, 1000, 10)])  # in 1/10,000
    return np.concatenate([tail, np.arange(1000, 9001, 50), 10_000 - tail[::-1]]) / 10_000


GRID = _grid()
"""Fixed, so that no threshold is a patient's own probability. Steps of 0.0001 below 0.01 and above 0.99, 0.001 from
there to 0.1 and from 0.9, and 0.005 between, since the risks of a rare outcome lie close to 0."""


@dataclass(frozen=True)
class ChosenThreshold:
    """An alert is raised at `threshold` or above; None, with a reason, where none reaches the target."""

    goal: Goal
    target: float
    threshold: float | None
    reason: str | None = None


def choose(rows: LabelledRows, goals: Mapping[Goal, Sequence[float]]) -> list[ChosenThreshold]:
    """A threshold of `GRID` for each goal's targets.

    For a sensitivity the highest that still reaches it, which raises the fewest alerts; for a PPV, and for at most so
    many alerts per 100 rows, the lowest that keeps to it, which finds the most.

    Args:
        rows: validation rows.
        goals: `sensitivity` and `ppv` as shares, `alerts_per_100` rows.
    """
    few = min(rows.patients_with(0), rows.patients_with(1)) < FEWEST if rows.n else True
    chosen = []
    for goal, targets in goals.items():
        for target in targets:
            if few:
                chosen.append(ChosenThreshold(goal, target, None, "few_validation_patients"))
                continue
            reached = GRID[_reaching(rows, goal, target)].tolist()
            if not reached:
                chosen.append(ChosenThreshold(goal, target, None, "target_not_reached"))
                continue
            chosen.append(ChosenThreshold(goal, target, max(reached) if goal == "sensitivity" else min(reached)))
    return chosen


def alert_rows(rows: LabelledRows, thresholds: Sequence[ChosenThreshold], *, minimum_cell: int) -> list[AlertRow]:
    """What each threshold does on other rows: one line of an alert table each.

    A line's figures and counts give its whole table of alerts by outcome, and two lines' the rows between their
    thresholds. So all figures of a line are held back where the alerts, the rows without one, or the rows between its
    threshold and that of a line told before, together or of one class, are of 1 to `minimum_cell` - 1 patients. That
    there is nobody may be told.
    """
    table = []
    told: list[float] = []
    for chosen in thresholds:
        records: list[MetricRecord] = []
        threshold = chosen.threshold
        if threshold is not None:
            if any(_few_between(rows, threshold, other, minimum_cell) for other in (-inf, inf, *told)):
                records = [_suppressed(name) for name in FIGURES]
            else:
                told.append(threshold)
                records = _records(rows, threshold)
        table.append(
            AlertRow(
                goal=chosen.goal,
                target=chosen.target,
                threshold=threshold,
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
    """Which of `GRID` keep to a target; rows are in ascending order, so those from a place on are alerted."""
    first = np.searchsorted(rows.probabilities, GRID, side="left")
    alerted = rows.n - first
    found = rows.n_positive - np.concatenate([[0], np.cumsum(rows.labels)])[first]
    reaching: dict[str, Any] = {
        "sensitivity": found >= target * rows.n_positive,
        "ppv": (alerted > 0) & (found >= target * alerted),
        "alerts_per_100": alerted * 100 <= target * rows.n,
    }
    return np.asarray(reaching[goal], dtype=bool)


def _few_between(rows: LabelledRows, one: float, other: float, minimum_cell: int) -> bool:
    """Whether the rows from the lower threshold up to the higher, of one class or both, are of too few patients."""
    low, high = sorted((one, other))
    between = (rows.probabilities >= low) & (rows.probabilities < high)
    groups = (between, between & (rows.labels == 0), between & (rows.labels == 1))
    return any(0 < _patients(rows, group) < minimum_cell for group in groups)


def _records(rows: LabelledRows, threshold: float) -> list[MetricRecord]:
    """The figures with how many rows they are of, and how many of these count (`n_positive`).

    Intervals are Wilson's with as many observations as patients: as if all rows of a patient had one fate, which is
    exact with a row each, and too wide rather than too narrow with more. Below ten patients with the outcome there is
    none, as for the other figures.
    """
    alerted = rows.probabilities >= threshold
    outcome = rows.labels == 1
    every = np.ones(rows.n, dtype=bool)
    shares = dict(
        zip(
            FIGURES,
            ((alerted, outcome), (~alerted, ~outcome), (outcome, alerted), (~outcome, ~alerted), (alerted, every)),
            strict=True,
        )
    )
    records = []
    for name, (what, among) in shares.items():
        base, counted, patients = int(among.sum()), int((what & among).sum()), _patients(rows, among)
        if not base:
            records.append(undefined(name, "no_cases"))
            continue
        scale = 100 if name == "alerts_per_100" else 1
        low, high = wilson_interval(counted / base, patients)
        few = patients < FEWEST or rows.patients_with(1) < FEWEST
        records.append(
            MetricRecord(
                name=name,
                value=counted / base * scale,
                n=base,
                n_positive=counted,
                status=Status.LOW_SUPPORT if few else Status.OK,
                reason=f"fewer_than_{FEWEST}_patients" if few else None,
                interval=None if rows.patients_with(1) < FEWEST else (low * scale, high * scale),
            )
        )
    return records


def _suppressed(name: str) -> MetricRecord:
    return MetricRecord(name=name, value=None, n=0, status=Status.SUPPRESSED, reason="fewer_than_minimum_cell")


def _patients(rows: LabelledRows, chosen: _Mask) -> int:
    return len(np.unique(rows.patients[chosen]))
