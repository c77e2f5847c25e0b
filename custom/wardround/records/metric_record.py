"""One number about a model at one site, with what is needed to judge it."""

from enum import StrEnum
from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator

from wardround.records.codes import Code, Count

BELOW_MINIMUM_CELL = "fewer_than_minimum_cell"


class Status(StrEnum):
    """Whether a metric's value can be used, and if not, why not."""

    OK = "ok"
    UNDEFINED = "undefined"  # the metric has no value on these cases (an empty label, one class)
    LOW_SUPPORT = "low_support"  # it has one, on too few cases to rank by
    SUPPRESSED = "suppressed"  # the site's disclosure rules held it back


class MetricRecord(BaseModel):
    """A named value with its counts. An undefined value is null with a reason, never 0, NaN or infinity.

    Args:
        name: what was measured, such as `dice_wt`.
        value: the figure, or None where status is undefined or suppressed.
        n: cases that it rests on; for tables these are rows.
        n_positive: of these, how many hold what is looked for; None where that means nothing.
        status: see `Status`.
        reason: one coded phrase for any status but ok.
        interval: the 95 % interval of `value`, where one was computed.
        support: patients whom the figure rests on, by which a site's disclosure rules go: the fewest of any part of
            them that could be had from it and the figures beside it. It stays at the site.
    """

    # NaN would become null in JSON, and a whole run's record unreadable
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: Code
    value: float | None
    n: int
    n_positive: int | None = None
    status: Status = Status.OK
    reason: Code | None = None
    interval: tuple[float, float] | None = None
    support: Count | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        valueless = self.status in (Status.UNDEFINED, Status.SUPPRESSED)
        if valueless != (self.value is None):
            raise ValueError(f"{self.name}: status {self.status} does not go with value {self.value}")
        if self.status is not Status.OK and not self.reason:
            raise ValueError(f"{self.name}: status {self.status} needs a reason")
        if self.n < 0 or (self.n_positive is not None and not 0 <= self.n_positive <= self.n):
            raise ValueError(f"{self.name}: n {self.n} and n_positive {self.n_positive} do not fit")
        return self


def undefined(
    name: str, reason: str, *, n: int = 0, n_positive: int | None = None, support: int | None = None
) -> MetricRecord:
    """A record of a metric that has no value on these cases."""
    return MetricRecord(
        name=name,
        value=None,
        n=n,
        n_positive=n_positive,
        status=Status.UNDEFINED,
        reason=reason,
        support=support,
    )


def suppressed(name: str, reason: str = BELOW_MINIMUM_CELL) -> MetricRecord:
    """A record that the site's disclosure rules hold back, its counts with it."""
    return MetricRecord(name=name, value=None, n=0, status=Status.SUPPRESSED, reason=reason)


def find(records: list[MetricRecord], name: str) -> MetricRecord | None:
    """The record called `name`, if there is one."""
    return next((record for record in records if record.name == name), None)


def firm_value_of(records: list[MetricRecord], name: str) -> float | None:
    """As `value_of`, and None too where the value rests on too few cases to rank by."""
    record = find(records, name)
    return record.value if record and record.status is Status.OK else None


def value_of(records: list[MetricRecord], name: str) -> float | None:
    """The value of the record called `name`, or None where there is none or it is undefined."""
    record = find(records, name)
    return record.value if record else None
