"""Parts of a report about predicted probabilities, as plain data: figures and diagrams from additive tallies."""

from pydantic import BaseModel, ConfigDict


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class OutcomeFacts(_Part):
    """What a study predicts. `horizon_days`: from the index date; None means present at it."""

    name: str
    meaning: str
    horizon_days: int | None


class PooledFigure(_Part):
    """One figure of an arm over the test cases of all sites together.

    Args:
        value: None where `reason` says why.
        low, high: the bound that bins imply; equal to `value` where it is exact.
        within_site: for AUROC, over pairs of patients of one site alone, so that the sites' prevalence is not in it.
        sites, missing: whose cases are in it, and whose are not.
    """

    arm: str
    metric: str
    value: float | None
    low: float | None
    high: float | None
    within_site: float | None = None
    n: int
    n_positive: int | None
    sites: list[str]
    missing: list[str]
    reason: str | None = None


class ReliabilityPoint(_Part):
    """Patients of like risk: the mean of their risks, and the share of them that have the outcome."""

    predicted: float
    observed: float
    n: int


class Reliability(_Part):
    """A reliability diagram: one arm at one site."""

    arm: str
    site: str
    points: list[ReliabilityPoint]


class PrecisionRecall(_Part):
    """A precision-recall curve as (recall, precision): one arm at one site."""

    arm: str
    site: str
    prevalence: float
    points: list[tuple[float, float]]
