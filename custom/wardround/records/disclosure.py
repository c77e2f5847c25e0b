"""The rules that a hospital sets for the numbers that leave it."""

from pydantic import BaseModel, ConfigDict, Field


class Disclosure(BaseModel):
    """`disclosure` of site.yaml; a job cannot override it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    minimum_cell: int = Field(5, ge=1, description="fewest patients behind a sum, a bin by class or a cohort's figure")


DEFAULT_RULES = Disclosure()
