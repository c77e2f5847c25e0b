"""How a released model does on a site's new cases, and how far its inputs moved. It stays at the site."""

from collections import Counter
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from wardround.records.acceptance_outcome import CriterionOutcome
from wardround.records.metric_record import MetricRecord, find
from wardround.records.shared_monitoring import SharedCriterion, SharedMonitoring, Shift


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class CellShift(_Part):
    """One cell: its share in training, and among the new cases."""

    label: str
    expected: float
    found: float


class InputShift(_Part):
    """One column or sequence.

    Args:
        index: population stability index.
        chance: what it stays below by chance in 95 of 100 samples of patients; None for images of too few.
        rows: rows or cases that were counted.
    """

    name: str
    index: float
    chance: float | None
    judged: Shift
    rows: int
    cells: list[CellShift]


class Monitoring(_Part):
    """One look.

    Args:
        release_sha256: of the release's list of checksums.
        signature: whether the release was found to be as it was signed.
        criteria: of the release, held against these cases; `not_checked` names those that need more than this model.
        figures: on these cases.
        inputs: those that the release keeps statistics of.
    """

    site: str
    study: str
    version: str
    release_sha256: str
    time: str
    signature: Literal["verified", "not_checked"]
    cases: int
    patients: int
    left_out: int
    criteria: list[CriterionOutcome]
    not_checked: list[str] = Field(default_factory=list)
    figures: list[MetricRecord]
    inputs: list[InputShift]

    @property
    def fit(self) -> bool:
        """Whether every criterion that could be checked is met, and there is one."""
        return bool(self.criteria) and all(criterion.met for criterion in self.criteria)

    @property
    def counts(self) -> SharedMonitoring:
        """What of it may leave once it has passed the gate."""
        found = {criterion.metric: find(self.figures, criterion.metric) for criterion in self.criteria}
        return SharedMonitoring(
            study=self.study,
            version=self.version,
            release_sha256=self.release_sha256,
            date=self.time[:10],
            patients=self.patients,
            cases=self.cases,
            criteria=[
                SharedCriterion(
                    metric=criterion.metric,
                    met=None if any(check.reason for check in criterion.sites) else criterion.met,
                    support=figure.support if (figure := found[criterion.metric]) else None,
                )
                for criterion in self.criteria
            ],
            inputs=dict(Counter(one.judged for one in self.inputs)),
        )
