"""Scores probabilities of an outcome on a site's rows: ranking, calibration, and what alerts would cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from wardround.metrics.alerts import ChosenThreshold, alert_rows, choose
from wardround.metrics.bootstrap import percentile_interval
from wardround.metrics.classification import (
    figure_record,
    figure_records,
    figure_values,
    may_have_interval,
    resampled_figures,
)
from wardround.metrics.labelled_rows import LabelledRows, labelled_rows
from wardround.metrics.reliability import SQUARED_ERROR, squared_error
from wardround.metrics.score_bins import SCORE_BINS, score_bins
from wardround.records.alerts import Goal
from wardround.records.changed import changed
from wardround.records.metric_record import MetricRecord, suppressed
from wardround.records.reasons import Reason, WardroundError
from wardround.records.scores import CaseScore, Cohort, Scores
from wardround.workloads.clinical_risk.settings import AlertGoals
from wardround.workloads.clinical_risk.small_parts import COMPLEMENTARY, held_back, held_back_between

VALIDATION_METRICS = ("auroc", "auprc", "brier", "log_loss")
DETAIL_METRICS = (
    "accuracy",
    "prevalence",
    "brier_skill",
    "brier_reliability",
    "brier_resolution",
    "brier_within_bin",
    "brier_uncertainty",
    "calibration_error",
    "calibration_slope",
    "calibration_intercept",
)
COHORT_METRICS = (*VALIDATION_METRICS, "calibration_intercept")
DIFFERENCES = (*VALIDATION_METRICS, "accuracy")


@dataclass(frozen=True)
class ScoredRows:
    """A model's probabilities for some rows, with what is known of these.

    Args:
        probabilities: of the outcome, [rows].
        labels: 0 or 1, [rows].
        patients: identifier by row; rows of one patient are resampled together.
        cases: what names the row in the site's own files.
        cohorts: name of a division to the part that each row is in; None where the value is missing.
    """

    probabilities: npt.NDArray[Any] | Sequence[float]
    labels: npt.NDArray[Any] | Sequence[int]
    patients: Sequence[str]
    cases: Sequence[str]
    cohorts: Mapping[str, Sequence[str | None]] = field(default_factory=dict)


def score_rows(
    rows: ScoredRows,
    *,
    split: str,
    detail: bool,
    minimum_cell: int,
    thresholds: Sequence[ChosenThreshold] = (),
) -> Scores:
    """Every figure of one model on one split, see `wardround.metrics.classification` for support and intervals.

    Args:
        rows: may be empty.
        split: named in the result.
        detail: adds calibration, intervals, figures by cohort and sums for pooling, which are too much for every round.
        minimum_cell: fewest patients that a cohort's figure or a cell of the sums may rest on.
        thresholds: of alerts, chosen on validation rows; they need `detail`.

    Raises:
        WardroundError: a label is no 0 or 1, or a probability is not finite or not within 0 to 1.
    """
    checked = labelled_rows(rows.probabilities, rows.labels, rows.patients)
    names = (*VALIDATION_METRICS, *DETAIL_METRICS) if detail else VALIDATION_METRICS
    edges = [chosen.edge for chosen in thresholds if chosen.edge is not None]
    cells = score_bins(checked, minimum_cell=minimum_cell, first=edges) if detail else None
    errors = squared_error(checked, minimum_cell=minimum_cell) if detail else None
    tallies = {SCORE_BINS: cells, SQUARED_ERROR: errors}
    return Scores(
        split=split,
        records=figure_records(checked, names, intervals=detail),
        tallies=[tally for tally in tallies.values() if tally is not None],
        suppressed=[name for name, tally in tallies.items() if tally is None] if detail and checked.n else [],
        cohorts=_by_cohort(rows, minimum_cell) if detail else [],
        alerts=alert_rows(checked, thresholds, cells=cells),
        cases=_case_scores(rows),
    )


def choose_thresholds(
    probabilities: npt.NDArray[Any], labels: npt.NDArray[Any], patients: Sequence[str], goals: AlertGoals
) -> list[ChosenThreshold]:
    """Alert thresholds for the study's goals, on validation rows; see `wardround.metrics.alerts.choose`."""
    wanted: dict[Goal, Sequence[float]] = {
        "sensitivity": goals.sensitivity,
        "ppv": goals.ppv,
        "alerts_per_100": goals.alerts_per_100,
    }
    return choose(labelled_rows(probabilities, labels, patients), wanted)


def row_differences(ours: Sequence[CaseScore], theirs: Sequence[CaseScore], *, seed: int) -> list[MetricRecord]:
    """Figures of one model minus another's on the same rows, with 95 % intervals from patients resampled in pairs.

    Raises:
        WardroundError: the two scored different rows.
    """
    if {score.case for score in ours} != {score.case for score in theirs}:
        raise WardroundError(
            Reason.METRICS_MISSING, "differences: both models must have scored the same rows; score both on one table"
        )
    models = [labelled(scores) for scores in (ours, theirs)]
    one, other = (figure_values(rows, DIFFERENCES) for rows in models)
    rows = models[0]
    bounds: dict[str, tuple[float, float] | None] = {}
    if may_have_interval(rows):
        chunks = list(resampled_figures(models, DIFFERENCES, seed=seed))
        for name in DIFFERENCES:
            bounds[name] = percentile_interval(np.concatenate([pair[0][name] - pair[1][name] for pair in chunks]))
    defined = {name: one[name] - other[name] for name in DIFFERENCES if name in one and name in other}
    return [figure_record(name, rows, defined, bounds) for name in DIFFERENCES]


def labelled(scores: Sequence[CaseScore]) -> LabelledRows:
    """Rows as metrics take them, from scores by case."""
    values = np.array([(score.values["probability"], score.values["label"]) for score in scores], dtype=np.float64)
    probabilities, labels = values.reshape(-1, 2).T
    return labelled_rows(probabilities, labels.astype(np.int64), [score.patient for score in scores])


def _by_cohort(rows: ScoredRows, minimum_cell: int) -> list[Cohort]:
    """Figures over each part of each division, without those that would tell of too few patients; see `small_parts`.

    None has an interval: resampling two divisions takes longer than all that is scored besides.
    """
    cohorts = []
    probabilities, labels = np.asarray(rows.probabilities), np.asarray(rows.labels)
    patients = np.asarray(rows.patients, dtype=np.str_)
    held, parts = _held(rows.cohorts, labels, patients, minimum_cell)
    for name, by_row in parts.items():
        for value in sorted(set(by_row.tolist()) - {""}):
            chosen = by_row == value
            part = labelled_rows(probabilities[chosen], labels[chosen], patients[chosen])
            records = (
                [suppressed(metric, held[name, value]) for metric in COHORT_METRICS]
                if (name, value) in held
                else [_of_classes(record, part) for record in figure_records(part, COHORT_METRICS, intervals=False)]
            )
            cohorts.append(Cohort(name=name, value=value, records=records))
    return cohorts


def _held(
    cohorts: Mapping[str, Sequence[str | None]],
    labels: npt.NDArray[Any],
    patients: npt.NDArray[np.str_],
    minimum_cell: int,
) -> tuple[dict[tuple[str, str], str], dict[str, npt.NDArray[np.str_]]]:
    """Parts that are held back, to the reason, and the part of each row by division, empty where it has none."""
    held: dict[tuple[str, str], str] = {}
    parts = {
        name: np.array(["" if part is None else part for part in by_row], dtype=np.str_)
        for name, by_row in cohorts.items()
    }
    for name, by_row in parts.items():
        own = held_back(by_row, labels, patients, minimum_cell=minimum_cell)
        held |= {(name, value): reason for value, reason in own.items()}
    told = {
        (name, value): by_row == value
        for name, by_row in parts.items()
        for value in sorted(set(by_row.tolist()) - {""})
        if (name, value) not in held
    }
    between = held_back_between(told, labels, patients, minimum_cell=minimum_cell)
    return held | dict.fromkeys(between, COMPLEMENTARY), parts


def _of_classes(record: MetricRecord, part: LabelledRows) -> MetricRecord:
    """A cohort's figures tell of each of its classes, since their counts stand beside them."""
    classes = [count for count in (part.patients_with(0), part.patients_with(1)) if count]
    return changed(record, support=min([part.n_patients, *classes]))


def _case_scores(rows: ScoredRows) -> list[CaseScore]:
    return [
        CaseScore(case=case, patient=patient, values={"probability": float(probability), "label": float(label)})
        for case, patient, probability, label in zip(
            rows.cases, rows.patients, rows.probabilities, rows.labels, strict=True
        )
    ]
