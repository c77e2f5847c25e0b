"""Thresholds of alerts: chosen on validation rows, judged on others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wardround.metrics.labelled_rows import LabelledRows
from wardround.records.alerts import AlertRow, Goal
from wardround.records.metric_record import MetricRecord, Status, undefined

GRID = np.round(np.arange(0.01, 1.0, 0.01), 2)  # fixed, so that no threshold is a patient's own probability
FEWEST_OF_A_CLASS = 10  # patients with and without the outcome, to choose a threshold


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
    few = min(rows.patients_with(0), rows.patients_with(1)) < FEWEST_OF_A_CLASS if rows.n else True
    chosen = []
    for goal, targets in goals.items():
        for target in targets:
            if few:
                chosen.append(ChosenThreshold(goal, target, None, "few_validation_patients"))
                continue
            reached = [threshold for threshold in GRID.tolist() if _reaches(rows, threshold, goal, target)]
            if not reached:
                chosen.append(ChosenThreshold(goal, target, None, "target_not_reached"))
                continue
            chosen.append(ChosenThreshold(goal, target, max(reached) if goal == "sensitivity" else min(reached)))
    return chosen


def alert_rows(rows: LabelledRows, thresholds: Sequence[ChosenThreshold], *, minimum_cell: int) -> list[AlertRow]:
    """What each threshold does on other rows: one line of an alert table each.

    Figures over fewer patients than `minimum_cell` are held back.
    """
    table = []
    for chosen in thresholds:
        records = [] if chosen.threshold is None else _records(rows, chosen.threshold, minimum_cell)
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


def _reaches(rows: LabelledRows, threshold: float, goal: Goal, target: float) -> bool:
    alerted = rows.probabilities >= threshold
    found = int(rows.labels[alerted].sum())
    if goal == "sensitivity":
        return found >= target * rows.n_positive
    if goal == "ppv":
        return bool(alerted.any()) and found >= target * int(alerted.sum())
    return int(alerted.sum()) * 100 <= target * rows.n


def _records(rows: LabelledRows, threshold: float, minimum_cell: int) -> list[MetricRecord]:
    alerted = rows.probabilities >= threshold
    outcome = rows.labels == 1
    every = np.ones(rows.n, dtype=bool)
    shares = {
        "sensitivity": (alerted, outcome),
        "specificity": (~alerted, ~outcome),
        "ppv": (outcome, alerted),
        "npv": (~outcome, ~alerted),
        "alerts_per_100": (alerted, every),
    }
    records = []
    for name, (what, among) in shares.items():
        base = int(among.sum())
        if not base:
            records.append(undefined(name, "no_cases"))
        elif len(np.unique(rows.patients[among])) < minimum_cell:
            records.append(
                MetricRecord(name=name, value=None, n=0, status=Status.SUPPRESSED, reason="fewer_than_minimum_cell")
            )
        else:
            value = float((what & among).sum()) / base * (100 if name == "alerts_per_100" else 1)
            few = base < FEWEST_OF_A_CLASS
            records.append(
                MetricRecord(
                    name=name,
                    value=value,
                    n=base,
                    status=Status.LOW_SUPPORT if few else Status.OK,
                    reason=f"fewer_than_{FEWEST_OF_A_CLASS}_cases" if few else None,
                )
            )
    return records
