"""How one model did on one split at one site."""

from pydantic import BaseModel, ConfigDict, Field

from wardround.records.alerts import AlertRow
from wardround.records.codes import Code, Count
from wardround.records.metric_record import MetricRecord


class Tally(BaseModel):
    """Additive counts that the server can pool over sites. Over one case they are that case's own figures.

    Args:
        name: what is counted, such as `squared_error`.
        counts: named sums, each a number that adds up over cases.
        n: what was summed over, as in `MetricRecord`: cases, which for tables are rows.
        support: patients whom the sums rest on, by which a site's disclosure rules go: the fewest of any part of them
            that could be had by taking other sums from these.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: Code
    counts: dict[Code, float]
    n: Count
    support: Count | None = None


class CaseScore(BaseModel):
    """One case's figures. It names a case, so it stays in the site's own folder."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    case: str
    patient: str
    values: dict[str, float | None]


class Cohort(BaseModel):
    """Figures over a part of a site's cases, such as one age band.

    Args:
        name, value: what divides the cases, and which part this is.
        records: every record `suppressed` where the part has fewer patients than the site's minimum cell.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Code
    value: Code
    records: list[MetricRecord]


class Scores(BaseModel):
    """A model's figures on one split: all may travel through the gate, but for `cases`, which never do.

    Args:
        records: over all cases of the split.
        tallies: sums that the server can pool.
        cohorts: the same records over parts of the cases, where the study names parts.
        alerts: what thresholds chosen on validation cases do on these, where the study asks for them.
        cases: by case, for the site's own folder.
        suppressed: names of tallies that could not be made of so few patients.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    split: str
    records: list[MetricRecord]
    tallies: list[Tally] = Field(default_factory=list)
    cohorts: list[Cohort] = Field(default_factory=list)
    alerts: list[AlertRow] = Field(default_factory=list)
    cases: list[CaseScore] = Field(default_factory=list)
    suppressed: list[Code] = Field(default_factory=list)
