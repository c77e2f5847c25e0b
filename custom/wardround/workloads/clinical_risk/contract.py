"""contract.yaml: what every hospital's table means, so that one network can read them all."""

import hashlib
import json
from datetime import date
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from wardround.records.section import Section

OTHER = "other"  # the bucket of categories that the vocabulary does not have
RESERVED = frozenset({OTHER, "missing"})
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
_Finite = Annotated[float, Field(allow_inf_nan=False)]


class Conversion(Section):
    """From an accepted unit to the contract's: `value * factor + offset`."""

    factor: _Finite = Field(1.0, description="multiplies the value")
    offset: _Finite = Field(0.0, description="is added then, in the contract's unit")

    @model_validator(mode="after")
    def _converts(self) -> Self:
        if self.factor == 0:
            raise ValueError("factor 0 makes every value the same")
        return self


class Window(Section):
    """When a value may have been measured, in days from the index date: 0 is that date, -365 a year before."""

    from_days: int | None = Field(None, description="null: any time before")
    to_days: int = Field(0, le=0, description="later values would leak the outcome")

    @model_validator(mode="after")
    def _runs_forward(self) -> Self:
        if self.from_days is not None and self.from_days > self.to_days:
            raise ValueError(f"from_days {self.from_days} is after to_days {self.to_days}")
        return self


class _Column(Section):
    meaning: str = Field(min_length=1, description="what is measured or recorded, for people")
    window: Window = Window()
    missing: tuple[str | float, ...] = Field((), description="codes for missing beside the contract's own, such as 0")


class NumberColumn(_Column):
    """A measured or counted value."""

    type: Literal["number"] = Field(description="measured or counted")
    unit: str = Field(min_length=1, description="in which the network gets it, such as umol/L")
    units: dict[str, Conversion] = Field(default_factory=dict, description="accepted beside `unit`")
    range: tuple[_Finite, _Finite] = Field(description="plausible, in `unit`; what lies outside is taken as missing")

    @model_validator(mode="after")
    def _has_width(self) -> Self:
        if self.range[0] >= self.range[1]:
            raise ValueError(f"range {list(self.range)}: expected [low, high] with low below high")
        if self.unit in self.units:
            raise ValueError(f"units {self.unit}: is the column's own unit, which needs no conversion")
        return self


class CategoryColumn(_Column):
    """One of a vocabulary's values."""

    type: Literal["category"] = Field(description="one of named values")
    values: tuple[Name, ...] = Field(min_length=1, description="the vocabulary, to which sites map their own codes")
    other: bool = Field(True, description="unknown codes go to the bucket `other`; false: they are invalid")

    @model_validator(mode="after")
    def _vocabulary(self) -> Self:
        if len(set(self.values)) < len(self.values) or RESERVED & set(self.values):
            raise ValueError(
                f"values {list(self.values)}: expected each once, without {', '.join(sorted(RESERVED))}, "
                "which are added where they are needed"
            )
        return self


Column = Annotated[NumberColumn | CategoryColumn, Field(discriminator="type")]


class Outcome(Section):
    """What is predicted. A site maps its own codes to `positive` and `negative`."""

    name: Name = Field(description="such as readmitted")
    meaning: str = Field(min_length=1, description="what counts as the outcome, for people")
    horizon_days: int | None = Field(ge=0, description="from the index date; null: present at the index date")
    positive: Name = Field("yes", description="the outcome came about: its risk is predicted")
    negative: Name = Field("no", description="it did not")

    @model_validator(mode="after")
    def _two_classes(self) -> Self:
        if self.positive == self.negative:
            raise ValueError(f"positive and negative are both {self.positive}")
        if RESERVED & {self.positive, self.negative}:
            raise ValueError(f"positive and negative: {', '.join(sorted(RESERVED))} have a meaning of their own")
        return self


class Exclusion(Section):
    """Rows that are no part of the study, by a column that need not be an input."""

    column: Name = Field(description="by which rows are left out; a site maps it under its own `exclusions`")
    meaning: str = Field(min_length=1, description="why these rows are no part of the study, for people")
    values: tuple[Name, ...] = Field(min_length=1, description="a row with one of these is left out")


class CohortColumn(Section):
    """A division of patients by which figures are told: a category's values, or bands of a number."""

    name: Name = Field(description="of the division, in reports")
    column: Name = Field(description="one of `columns`")
    edges: tuple[_Finite, ...] = Field((), description="of a number's bands: [50, 65] gives below 50, 50 to 65, 65 up")

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        if list(self.edges) != sorted(set(self.edges)):
            raise ValueError(f"edges {list(self.edges)}: expected ascending values")
        return self

    @property
    def bands(self) -> list[str]:
        """Names of a number's parts, in ascending order: [50, 65] gives below_50, 50_to_65 and 65_up."""
        edges = [_text(edge) for edge in self.edges]
        return [f"below_{edges[0]}", *(f"{low}_to_{high}" for low, high in pairwise(edges)), f"{edges[-1]}_up"]


class Contract(Section):
    """A whole contract.yaml."""

    version: int = Field(1, ge=1, description="of this contract, for people to count on after a change")
    patient: str = Field(min_length=1, description="what identifies a patient; rows of one patient stay together")
    index_date: str = Field(min_length=1, description="the date at which the risk is asked for")
    rows_per_patient: Literal["all", "first"] = Field("all", description="first: a patient's earliest row alone")
    missing: tuple[str, ...] = Field(("", "?", "NA", "NaN"), description="codes for missing in every column")
    outcome: Outcome
    columns: dict[Name, Column] = Field(min_length=1, description="inputs, in this order")
    exclusions: tuple[Exclusion, ...] = Field((), description="rows that are no part of the study")
    cohorts: tuple[CohortColumn, ...] = Field((), description="groups of patients that figures are told by")

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.outcome.name in self.columns:
            raise ValueError(f"outcome.name {self.outcome.name} is also an input: the outcome would predict itself")
        names = [cohort.name for cohort in self.cohorts]
        for cohort in self.cohorts:
            if names.count(cohort.name) > 1:
                raise ValueError(f"cohorts {cohort.name}: is there twice")
            column = self.columns.get(cohort.column)
            if column is None:
                raise ValueError(f"cohorts {cohort.name}: column {cohort.column} is not among columns")
            if (column.type == "number") != bool(cohort.edges):
                raise ValueError(f"cohorts {cohort.name}: edges are for numbers, and every number needs them")
        return self


def contract_digest(contract: Contract) -> str:
    """SHA-256 of the contract's content, whatever the order of keys in its file but for the columns, which are inputs.

    All of it counts, meanings too: two hospitals that agreed to different words agreed to different contracts.
    """
    content = {**contract.model_dump(mode="json"), "order": list(contract.columns)}
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _text(edge: float) -> str:
    """As part of a name, in which there is neither a sign nor a point: -1.5 is minus_1_5."""
    return f"{edge:g}".replace("-", "minus_").replace(".", "_").replace("+", "")


OF_PATIENTS = ("validation_fraction", "test_fraction", "seed")  # what a split by patient goes by


class SplitRule(Section):
    """How every site divides its patients; by time, from which dates on they are held back.

    A site may set its own fractions and seed in its site.yaml, and the fractions may then come to 1.
    """

    by: Literal["patient", "time"] = Field("patient", description="patient: drawn by fractions; time: by two dates")
    validation_fraction: float = Field(0.15, ge=0, lt=1, description="of the patients, to choose the best round by")
    test_fraction: float = Field(0.25, ge=0, le=1, description="of the patients, scored and never trained on")
    seed: int = Field(0, ge=0, description="of the draw; the same draws the same patients")
    validation_from: date | None = Field(None, description="by time: first index dates from here on are for validation")
    test_from: date | None = Field(None, description="by time: first index dates from here on are for the test")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        dates = self.validation_from, self.test_from
        if self.by == "time" and (dates[0] is None or dates[1] is None or dates[0] >= dates[1]):
            raise ValueError("split by time: give validation_from and, after it, test_from")
        if self.by == "patient" and any(dates):
            raise ValueError("split by patient: validation_from and test_from do nothing; use by: time")
        idle = [name for name in OF_PATIENTS if name in self.model_fields_set]
        if self.by == "time" and idle:
            raise ValueError(
                f"split by time: {' and '.join(idle)} do nothing beside dates; leave out, or use by: patient"
            )
        return self


class SiteSplit(Section):
    """What one site sets of the study's split: how many patients it holds back. What is not given is as in the study.

    The rest is the study's alone: figures of sites that are divided by dates and of sites that are not, or by other
    dates, are of different questions.
    """

    validation_fraction: float | None = Field(None, ge=0, lt=1, description="of the patients; null: as in the study")
    test_fraction: float | None = Field(
        None, ge=0, le=1, description="1 at a hospital that is only scored: no patient is left to validate on either"
    )
    seed: int | None = Field(None, ge=0, description="of the draw; null: as in the study")

    @model_validator(mode="before")
    @classmethod
    def _leaves_the_rest_to_the_study(cls, given: Any) -> Any:
        keys = given if isinstance(given, dict) else ()
        rest = [f"split.{name}" for name in keys if name in SplitRule.model_fields and name not in OF_PATIENTS]
        if rest:
            raise ValueError(
                f"{', '.join(rest)}: for the study to decide, alike at every hospital; leave it out here (a hospital "
                "that is divided already names the column that says so as split_column)"
            )
        return given
