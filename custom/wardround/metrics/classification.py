"""A classifier's figures as records, with their support and 95 % intervals.

Support: ranking and calibration need 10 patients with the outcome and 10 without it; below that their values are
low_support. Scores that average over rows (Brier, log loss, accuracy, prevalence) need 10 patients. No figure has an
interval below 10 patients with the outcome: with so few, a bootstrap promises more than it knows. A figure that needs
both classes is undefined where only one is there, and never 0 or 1.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from wardround.metrics.bootstrap import RESAMPLES, patient_weights, percentile_interval, sums_by_patient
from wardround.metrics.brier import BrierParts, bin_sums, brier_parts, equal_mass_bins
from wardround.metrics.calibration import (
    WeightedCalibration,
    calibration_line,
    intercept_at_slope_one,
    no_slope_because,
)
from wardround.metrics.labelled_rows import FloatArray, LabelledRows
from wardround.metrics.ranking import WeightedRanking, auroc, average_precision
from wardround.metrics.support import FEWEST_OF_A_CLASS
from wardround.records.metric_record import MetricRecord, Status, undefined

MEANS = ("accuracy", "brier", "log_loss", "prevalence")
_RANKING = ("auroc", "auprc")
_LINE = ("calibration_slope", "calibration_intercept")
_PARTS: dict[str, Callable[[BrierParts], FloatArray]] = {
    "brier": lambda parts: parts.brier,
    "brier_skill": lambda parts: parts.skill,
    "brier_reliability": lambda parts: parts.reliability,
    "brier_resolution": lambda parts: parts.resolution,
    "brier_within_bin": lambda parts: parts.within_bin,
    "brier_uncertainty": lambda parts: parts.uncertainty,
    "calibration_error": lambda parts: parts.calibration_error,
}
_BOTH_CLASSES = (*_RANKING, *_LINE, "brier_skill")
FIGURES = (*_RANKING, *_LINE, *_PARTS, "accuracy", "log_loss", "prevalence")


def figure_records(
    rows: LabelledRows, names: Sequence[str], *, intervals: bool, seed: int = 0, resamples: int = RESAMPLES
) -> list[MetricRecord]:
    """The figures `names` of `FIGURES`, in that order.

    Args:
        rows: may be empty; then every figure is undefined.
        names: which.
        intervals: adds the 95 % percentile bootstrap over patients.
        seed: of the resampling.
        resamples: of patients.
    """
    values = figure_values(rows, names)
    bounded = [name for name in names if name in values and may_have_interval(rows)] if intervals else []
    bounds: dict[str, tuple[float, float] | None] = {}
    if bounded:
        chunks: dict[str, list[FloatArray]] = {name: [] for name in bounded}
        for chunk in resampled_figures([rows], bounded, seed=seed, resamples=resamples):
            for name in bounded:
                chunks[name].append(chunk[0][name])
        bounds = {name: percentile_interval(np.concatenate(chunks[name])) for name in bounded}
    return [figure_record(name, rows, values, bounds) for name in names]


def figure_values(rows: LabelledRows, names: Sequence[str]) -> dict[str, float]:
    """Values of those figures that are defined on these rows."""
    if rows.n == 0:
        return {}
    found: dict[str, float] = {}
    both = 0 < rows.n_positive < rows.n
    if both:
        found |= {"auroc": auroc(rows), "auprc": average_precision(rows)}
    if both and set(_LINE) & set(names):
        found["calibration_intercept"] = intercept_at_slope_one(rows)
        if no_slope_because(rows) is None:
            found["calibration_slope"] = calibration_line(rows)[1]
    parts = brier_parts(bin_sums(rows, equal_mass_bins(rows)).sum(axis=0))
    found |= {name: float(part(parts)) for name, part in _PARTS.items() if both or name not in _BOTH_CLASSES}
    means = row_values(rows)
    found |= {name: float(values.mean()) for name, values in means.items()}
    return {name: found[name] for name in names if name in found}


def row_values(rows: LabelledRows) -> dict[str, FloatArray]:
    """What each row adds to the figures that are means over rows; the log loss clips as scikit-learn's does."""
    probabilities, labels = rows.probabilities, rows.labels
    right = np.where(labels == 1, probabilities, 1 - probabilities)
    smallest = np.finfo(np.float64).eps
    return {
        "accuracy": ((probabilities >= 0.5) == (labels == 1)).astype(np.float64),
        "brier": (probabilities - labels) ** 2,
        "log_loss": -np.log(np.clip(right, smallest, 1 - smallest)),
        "prevalence": labels.astype(np.float64),
    }


def figure_record(
    name: str, rows: LabelledRows, values: Mapping[str, float], bounds: Mapping[str, tuple[float, float] | None]
) -> MetricRecord:
    """One figure, or one difference of it between two models, with the reason where it has no value or little support.

    Args:
        name: of `FIGURES`.
        rows: what it rests on.
        values: by name, those that are defined.
        bounds: intervals by name, None where resamples leave it without one.
    """
    if name not in values:
        return undefined(
            name, _undefined_because(rows, name), n=rows.n, n_positive=rows.n_positive, support=rows.n_patients
        )
    reason = _few_because(rows, name)
    if reason is None and name in bounds and bounds[name] is None:
        reason = "unstable_over_resamples"
    return MetricRecord(
        name=name,
        value=values[name],
        n=rows.n,
        n_positive=rows.n_positive,
        status=Status.LOW_SUPPORT if reason else Status.OK,
        reason=reason,
        interval=bounds.get(name),
        support=_patients_behind(rows, name),
    )


def may_have_interval(rows: LabelledRows) -> bool:
    """Whether there are patients with the outcome enough for any interval."""
    return rows.patients_with(1) >= FEWEST_OF_A_CLASS


def resampled_figures(
    models: Sequence[LabelledRows], names: Sequence[str], *, seed: int, resamples: int = RESAMPLES
) -> Iterator[list[dict[str, FloatArray]]]:
    """The figures over resampled patients, in chunks: by model, by name, an array over the chunk's resamples.

    Args:
        models: several models' rows of the same patients; one resample holds the same patients for all.
        names: which figures.
        seed: of the draws.
        resamples: how many in all.
    """
    makers = [_Resampled(rows, names) for rows in models]
    patients = models[0].n_patients
    for weights in patient_weights(patients, seed=seed, resamples=resamples, width=models[0].n):
        yield [maker.figures(weights) for maker in makers]


class _Resampled:
    """One model's rows, prepared so that a chunk of resamples costs few passes over them."""

    def __init__(self, rows: LabelledRows, names: Sequence[str]) -> None:
        self._rows, self._names = rows, names
        self._ranking = WeightedRanking(rows) if set(_RANKING) & set(names) else None
        self._line = WeightedCalibration(rows) if set(_LINE) & set(names) else None
        means = {name: values for name, values in row_values(rows).items() if name in names and name not in _PARTS}
        ones = np.ones((rows.n, 1))
        columns = np.column_stack([ones, *means.values()])
        if set(_PARTS) & set(names):
            columns = np.column_stack([columns, bin_sums(rows, equal_mass_bins(rows))])
        self._means = tuple(means)
        self._sums = sums_by_patient(columns, rows.patients, rows.n_patients)

    def figures(self, weights: npt.NDArray[np.int64]) -> dict[str, FloatArray]:
        found: dict[str, FloatArray] = {}
        sums = weights.astype(np.float64) @ self._sums
        for column, name in enumerate(self._means, start=1):
            found[name] = sums[:, column] / sums[:, 0]
        if sums.shape[1] > 1 + len(self._means):
            parts = brier_parts(sums[:, 1 + len(self._means) :])
            found |= {name: part(parts) for name, part in _PARTS.items()}
        if self._ranking or self._line:
            by_row = weights[:, self._rows.patients]
            if self._ranking:
                found["auroc"], found["auprc"] = self._ranking.figures(by_row)
            if self._line:
                as_float = by_row.astype(np.float64)
                if "calibration_slope" in self._names:
                    found["calibration_slope"] = self._line.slopes(as_float)
                if "calibration_intercept" in self._names:
                    found["calibration_intercept"] = self._line.intercepts(as_float)
        return {name: found[name] for name in self._names}


def _patients_behind(rows: LabelledRows, name: str) -> int:
    """Ranking, and a slope, tell where the patients of the smaller class lie; other figures are means over all."""
    if name in (*_RANKING, "calibration_slope"):
        return min(rows.patients_with(0), rows.patients_with(1))
    return rows.n_patients


def _few_because(rows: LabelledRows, name: str) -> str | None:
    """Why the figure `name` rests on too few patients to rank by; None where it does not."""
    if name in MEANS:
        return f"fewer_than_{FEWEST_OF_A_CLASS}_patients" if rows.n_patients < FEWEST_OF_A_CLASS else None
    if rows.patients_with(1) < FEWEST_OF_A_CLASS:
        return f"fewer_than_{FEWEST_OF_A_CLASS}_positives"
    return f"fewer_than_{FEWEST_OF_A_CLASS}_negatives" if rows.patients_with(0) < FEWEST_OF_A_CLASS else None


def _undefined_because(rows: LabelledRows, name: str) -> str:
    """Why the figure `name` has no value on these rows."""
    if rows.n == 0:
        return "no_cases"
    if rows.n_positive in (0, rows.n):
        return "one_class"
    return (no_slope_because(rows) or "not_finite") if name == "calibration_slope" else "not_finite"
