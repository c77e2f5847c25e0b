"""How a released model does on a site's new cases, and how far its inputs moved. It stays at the site."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from wardround.records.acceptance_outcome import CriterionOutcome
from wardround.records.metric_record import MetricRecord

Shift = Literal["stable", "moderate", "large", "too_few", "not_comparable"]
"""`too_few`: it moved, over so few patients that nobody can tell whether by chance. `not_comparable`: the release has
one cell of it, in which every distribution is the same."""


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
        signature: whether the release was found to be as it was signed.
        criteria: of the release, held against these cases; `not_checked` names those that need more than this model.
        figures: on these cases.
        inputs: those that the release keeps statistics of.
    """

    site: str
    study: str
    version: str
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


class SharedMonitoring(_Part):
    """What may be handed on: how many of what, and nothing of a patient or a column.

    Args:
        fit: None where it rests on a figure that may not leave.
        cases: how many, in the site's steps.
        flags: code to how many criteria or inputs have it.
    """

    format: Literal["wardround-monitoring-1"] = "wardround-monitoring-1"
    site: str
    study: str
    version: str
    time: str
    fit: bool | None
    cases: int
    flags: dict[str, int]
