"""How one model did on one split at one site."""

from pydantic import BaseModel, ConfigDict, Field

from wardround.records.codes import Code, Count
from wardround.records.metric_record import MetricRecord


class Tally(BaseModel):
    """Additive counts that the server can pool over sites. Over one case they are that case's own figures.

    Args:
        name: what is counted, such as `voxels_wt`.
        counts: named sums, for example `both`, `predicted`, `reference` (voxels).
        n: cases summed over.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: Code
    counts: dict[Code, float]
    n: Count


class CaseScore(BaseModel):
    """One case's figures. It names a case, so it stays in the site's own folder."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    case: str
    patient: str
    values: dict[str, float | None]


class Scores(BaseModel):
    """A model's figures on one split: `records` and `tallies` may travel through the gate, `cases` never do."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    split: str
    records: list[MetricRecord]
    tallies: list[Tally] = Field(default_factory=list)
    cases: list[CaseScore] = Field(default_factory=list)
