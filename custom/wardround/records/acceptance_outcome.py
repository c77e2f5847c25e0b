"""Whether a model meets a study's criteria, criterion by criterion and site by site."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from wardround.records.metric_record import MetricRecord, Status

NOT_REPORTED = "not_reported"
NOT_COMPARED = "not_compared"
NO_INTERVAL = "no_interval"
Kind = Literal["worst_site", "worse_than_alone"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class SiteCheck(_Part):
    """One criterion at one site.

    Args:
        value, interval, n, n_positive: of the figure, or of the paired difference; None where there is none.
        bound: the end of the interval that is worse for the model, which is what counts.
        reason: why there is nothing to hold against the limit; None where the bound decided.
    """

    site: str
    met: bool
    value: float | None = None
    interval: tuple[float, float] | None = None
    n: int = 0
    n_positive: int | None = None
    bound: float | None = None
    reason: str | None = None


class CriterionOutcome(_Part):
    """One criterion; it is met where every site meets it, and there is a site.

    Args:
        better: whether higher or lower values are.
        limit: as the study has it.
    """

    kind: Kind
    metric: str
    better: Literal["higher", "lower"]
    limit: float
    sites: list[SiteCheck]

    @property
    def met(self) -> bool:
        """Of the whole criterion."""
        return bool(self.sites) and all(site.met for site in self.sites)


class AcceptanceOutcome(_Part):
    """All criteria of one model.

    Args:
        run, arm, model_round: which model.
    """

    run: str
    arm: str
    model_round: int | None
    criteria: list[CriterionOutcome]

    @property
    def met(self) -> bool:
        """Whether the model may be released: a study without a criterion has none to meet."""
        return bool(self.criteria) and all(criterion.met for criterion in self.criteria)


def check_at_site(
    site: str, record: MetricRecord | None, limit: float, *, higher: bool, missing: str = NOT_REPORTED
) -> SiteCheck:
    """Holds the worse end of a record's interval against a limit.

    Args:
        site: where it was measured.
        record: of the figure or of the paired difference.
        limit: the bound must be at least this where higher is better, at most this where lower is.
        higher: which is better.
        missing: the reason where there is no record.
    """
    if record is None:
        return SiteCheck(site=site, met=False, reason=missing)
    found = {"value": record.value, "interval": record.interval, "n": record.n, "n_positive": record.n_positive}
    if record.status is not Status.OK:
        return SiteCheck(site=site, met=False, reason=record.reason or str(record.status), **found)
    if record.interval is None:
        return SiteCheck(site=site, met=False, reason=NO_INTERVAL, **found)
    bound = record.interval[0] if higher else record.interval[1]
    return SiteCheck(site=site, met=bound >= limit if higher else bound <= limit, bound=bound, **found)
