"""How sure a mean over cases is, and a difference between two models: bootstraps over patients."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

import numpy as np

from wardround.metrics.bootstrap import patient_weights, percentile_interval
from wardround.metrics.support import FEWEST_CASES
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
    """Mean of (arm - reference) of the figure `name` over cases, with its 95 % interval.

    Both arms scored the same cases. A case where the figure is undefined in either arm is left out. Cases count as they
    do in a model's own figure, a mean over cases, so that the two models' figures differ by just this. Were a patient's
    cases averaged first, both together would give away those who have more or fewer cases than others. The interval is
    the percentile bootstrap's, on resampled patients with all cases of each, which are not independent; with ten
    patients it covers some points less than 95 %, so read a bound that touches 0 as 0.

    Args:
        name: a key of `CaseScore.values`.
        arm: scores of the model in question.
        reference: scores of the model that it is compared with.
        seed: of the resampling; the result does not depend on the order of cases.

    Returns:
        n is the number of patients. Undefined without a patient, low_support without an interval below three. Its
        support is the fewest patients of any part that it gives away together with both models' own figures: those
        whom only one model's figure is of.

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
    differences: list[float] = []
    patients: list[str] = []
    one_sided: tuple[set[str], set[str]] = set(), set()
    for case, score in sorted(ours.items()):
        one, other = score.values.get(name), theirs[case].values.get(name)
        if one is not None and other is not None:
            differences.append(one - other)
            patients.append(score.patient)
        elif one is not None or other is not None:
            one_sided[one is None].add(score.patient)
    n = len(set(patients))
    support = min((len(part) for part in (set(patients), *one_sided) if part), default=0)
    if not differences:
        return undefined(name, "no_patient_with_this_figure", support=support)
    few = n < FEWEST_CASES
    return MetricRecord(
        name=name,
        value=fmean(differences),
        n=n,
        interval=mean_interval(differences, patients, seed=seed),
        status=Status.LOW_SUPPORT if few else Status.OK,
        reason=f"fewer_than_{FEWEST_CASES}_patients" if few else None,
        support=support,
    )


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
