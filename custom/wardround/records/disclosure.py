"""The rules that a hospital sets for the numbers that leave it."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from wardround.records.codes import Code
from wardround.records.section import SAID_OR_LEFT_OUT, Section


class Disclosure(Section):
    """Which numbers stay at the site, since too few patients stand behind them; a job cannot override it.

    `minimum_cell` guards whatever divides a site's patients: sums by column, cells of scores by class, cohorts, alert
    tables, whose lines are sums of those cells, and small counts of what was left out. `minimum_patients` guards every
    other figure, and what it is trained on. How many rows of a scored split have the outcome is told however few they
    are: a figure without it cannot be judged, and figures such as the Brier score's parts give it away.
    """

    minimum_patients: int = Field(
        3, ge=1, description="fewest patients behind any figure; a site with fewer to train on takes no part"
    )
    minimum_cell: int = Field(
        5,
        ge=1,
        description="fewest patients behind a sum, a bin by class, a cohort's figure or a count of what is amiss",
    )
    allowed: Annotated[tuple[Code, ...] | None, SAID_OR_LEFT_OUT] = Field(
        None,
        description="names or beginnings of names of the figures and sums that may leave, such as dice or brier, and "
        "the words cohorts and alerts; by default all that the study makes",
    )
    significant_digits: int | None = Field(6, ge=1, le=17, description="of every figure; null: as computed")
    count_step: int = Field(
        1, ge=1, le=1000, description="counts of patients and cases are rounded up to a multiple of it, weights too"
    )

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if self.minimum_cell < self.minimum_patients:
            raise ValueError(
                f"minimum_cell {self.minimum_cell} is below minimum_patients {self.minimum_patients}: a cell is a "
                "figure too; raise the one or lower the other"
            )
        return self

    def allows(self, name: str) -> bool:
        """Whether a figure, a sum, or one of the words `cohorts` and `alerts` may leave under that name."""
        return self.allowed is None or any(name == one or name.startswith(f"{one}_") for one in self.allowed)

    def rounded(self, value: float) -> float:
        """To significant digits."""
        return value if self.significant_digits is None else float(f"{value:.{self.significant_digits}g}")

    def stepped(self, count: int) -> int:
        """Up to a multiple of `count_step`: bounds that held for exact counts hold for these, and 0 stays 0."""
        return -(-count // self.count_step) * self.count_step


DEFAULT_RULES = Disclosure()
