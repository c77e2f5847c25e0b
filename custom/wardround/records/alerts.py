"""What acting on a model's probabilities would cost: one line of an alert table."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from wardround.records.codes import Code
from wardround.records.metric_record import MetricRecord

Goal = Literal["sensitivity", "ppv", "alerts_per_100"]


class AlertRow(BaseModel):
    """A threshold that was chosen on validation cases, and what it does on the scored ones.

    Args:
        goal, target: what the threshold was chosen for, such as sensitivity 0.8, or 5 alerts per 100 patients.
        threshold: an alert is raised at this probability or above; None where no threshold reaches the target, or the
            validation cases are too few to choose one.
        reason: why there is no threshold.
        records: `sensitivity`, `specificity`, `ppv`, `npv` and `alerts_per_100` on the scored cases.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    goal: Goal
    target: float
    threshold: float | None
    reason: Code | None = None
    records: list[MetricRecord] = Field(default_factory=list)
