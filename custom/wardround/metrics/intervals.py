"""How sure a mean over cases is, and a difference between two models: bootstraps over patients."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean

import numpy as np

from wardround.metrics.bootstrap import patient_weights, percentile_interval
from wardround.metrics.support import FEWEST_CASES
from wardround.records.changed import changed
from wardround.records.metric_record import MetricRecord, Status, undefined
from wardround.records.reasons import Reason, WardroundError
from wardround.records.scores import CaseScore

_RESAMPLES = 4000  # four times what figures over rows take: a mean over patients costs next to nothing


def paired_differences(
    arm: Sequence[CaseScore], reference: Sequence[CaseScore], *, seed: int = 0
) -> list[MetricRecord]:
    """`paired_difference` of every figure that cases have, in the order of names."""
    names = sorted({name for scores in (arm, reference) for score in scores for name in score.values})
    return [paired_difference(name, arm, reference, seed=seed) for name in names]


def paired_difference(
    name: str, arm: Sequence[CaseScore], reference: Sequence[CaseScore], *, seed: int = 0
) -> MetricRecord:
    """Mean of (arm - reference) of the figure `name` over patients, with its 95 % interval.

    Both arms scored the same cases. A case where the figure is undefined in either arm is left out. A patient's cases
    are averaged first, since they are not independent. The interval is the percentile bootstrap's, on resampled
    patients; with ten patients it covers some points less than 95 %, so read a bound that touches 0 as 0.

    Args:
        name: a key of `CaseScore.values`.
        arm: scores of the model in question.
        reference: scores of the model that it is compared with.
        seed: of the resampling; the result does not depend on the order of cases.

    Returns:
        n is the number of patients. Undefined without a patient, low_support without an interval below three. Its
        support is the fewest patients of any part that it gives away together with both models' own figures: those
        whom only one model's figure is of, and those with more or fewer cases than others.

    Raises:
        WardroundError: the two arms scored different cases.
    """
    ours, theirs = ({score.case: score for score in scores} for scores in (arm, reference))
    if ours.keys() != theirs.keys():
        odd = ", ".join(sorted(ours.keys() ^ theirs.keys()))
        raise WardroundError(
            Reason.METRICS_MISSING,
            f"{name}: both models must have scored the same cases; only one scored {odd}. Score both on one data set",
        )
    by_patient: dict[str, list[float]] = defaultdict(list)
    one_sided: tuple[set[str], set[str]] = set(), set()
    for case, score in ours.items():
        one, other = score.values.get(name), theirs[case].values.get(name)
        if one is not None and other is not None:
            by_patient[score.patient].append(one - other)
        elif one is not None or other is not None:
            one_sided[one is None].add(score.patient)
    record = mean_with_interval(name, by_patient, seed=seed)
    parts = [set(by_patient), *one_sided, *_of_another_weight(by_patient)]
    return changed(record, support=min((len(part) for part in parts if part), default=0))


def _of_another_weight(by_patient: Mapping[str, Sequence[float]]) -> list[set[str]]:
    """Patients without k cases, for each k that some have.

    A model's own figure is a mean over cases, which counts a patient with two of them twice. So k times the sum of
    this difference over patients, taken from the sum over cases, leaves those alone who have another number of cases.
    """
    numbers = {len(values) for values in by_patient.values()}
    return [{patient for patient, values in by_patient.items() if len(values) != k} for k in numbers]


def mean_interval(values: Sequence[float], patients: Sequence[str], *, seed: int = 0) -> tuple[float, float] | None:
    """The 95 % percentile bootstrap interval of a mean over cases, on resampled patients with all cases of each.

    Args:
        values: by case.
        patients: whose case it is.
        seed: of the resampling; the result does not depend on the order of cases.

    Returns:
        None below three patients.
    """
    by_patient: dict[str, list[float]] = defaultdict(list)
    for patient, value in zip(patients, values, strict=True):
        by_patient[patient].append(value)
    if len(by_patient) < FEWEST_CASES:
        return None
    sums = np.array([(sum(sorted(by_patient[patient])), len(by_patient[patient])) for patient in sorted(by_patient)])
    means = []
    for weights in patient_weights(len(sums), seed=seed, resamples=_RESAMPLES):
        total, cases = (weights @ sums).T
        means.append(total / cases)
    return percentile_interval(np.concatenate(means))


def mean_with_interval(name: str, by_patient: Mapping[str, Sequence[float]], *, seed: int = 0) -> MetricRecord:
    """Mean over patients of each patient's mean, with the 95 % percentile bootstrap interval."""
    means = np.array([fmean(by_patient[patient]) for patient in sorted(by_patient)])
    if means.size == 0:
        return undefined(name, "no_patient_with_this_figure", support=0)
    if means.size < FEWEST_CASES:
        return MetricRecord(
            name=name,
            value=float(means.mean()),
            n=means.size,
            status=Status.LOW_SUPPORT,
            reason=f"fewer_than_{FEWEST_CASES}_patients",
            support=means.size,
        )
    resampled = [
        weights @ means / means.size for weights in patient_weights(means.size, seed=seed, resamples=_RESAMPLES)
    ]
    return MetricRecord(
        name=name,
        value=float(means.mean()),
        n=means.size,
        interval=percentile_interval(np.concatenate(resampled)),
        support=means.size,
    )
