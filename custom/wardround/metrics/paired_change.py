"""How far a figure moved between two models on the same cases, and how far it may by chance."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev

from scipy.stats import t

from wardround.metrics.support import FEWEST_CASES
from wardround.records.scores import CaseScore


@dataclass(frozen=True)
class PairedChange:
    """A figure of one model minus that of the model before, on the same cases.

    Args:
        difference: now minus before.
        standard_error: of the difference, over patients.
        patients: whom it rests on; for figures of two classes, those of the smaller one.
    """

    name: str
    difference: float
    standard_error: float
    patients: int

    def allowance(self, level: float) -> float:
        """Half the width of the paired interval of this level:

            t(1 - (1 - level) / 2, patients - 1) standard_error

        Student's t takes the place of a bootstrap's percentiles: corrected for many looks, an interval ends where a
        thousand resamples have no more than one, and over eight patients percentiles are too narrow anywhere.
        """
        return float(t.ppf(1 - (1 - level) / 2, self.patients - 1)) * self.standard_error


def mean_change(name: str, now: Sequence[CaseScore], before: Sequence[CaseScore]) -> PairedChange | None:
    """The change of a mean over patients, each the mean of their cases; standard error s / sqrt(patients).

    Args:
        name: a key of `CaseScore.values`; cases where it is undefined for either model are left out.
        now, before: of the same cases.

    Returns:
        None below three patients.
    """
    earlier = {score.case: score.values.get(name) for score in before}
    by_patient: dict[str, list[float]] = defaultdict(list)
    for score in now:
        value, other = score.values.get(name), earlier.get(score.case)
        if value is not None and other is not None:
            by_patient[score.patient].append(value - other)
    if len(by_patient) < FEWEST_CASES:
        return None
    means = [fmean(values) for _, values in sorted(by_patient.items())]
    return PairedChange(name, fmean(means), stdev(means) / sqrt(len(means)), len(means))
