"""The rules that a hospital sets for the numbers that leave it."""

from pydantic import BaseModel, ConfigDict, Field


class Disclosure(BaseModel):
    """Which numbers stay at the site, since too few patients stand behind them; a job cannot override it.

    The minimum guards whatever divides a site's patients: sums by column, cells of scores by class, cohorts, and alert
    tables, whose lines are sums of those cells. How many rows of a scored split have the outcome is told however few
    they are: a figure without it cannot be judged, and figures such as the Brier score's parts give it away.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    minimum_cell: int = Field(5, ge=1, description="fewest patients behind a sum, a bin by class or a cohort's figure")


DEFAULT_RULES = Disclosure()
