"""What a person decides about a clinical risk study: the study's side (job.yaml) and the site's (site.yaml)."""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from wardround.records.declared import DeclaredData
from wardround.records.section import SAID_OR_LEFT_OUT, Section
from wardround.workloads.clinical_risk.contract import Contract, Name, SiteSplit, SplitRule
from wardround.workloads.opt_out import DESCRIPTION

_Share = Annotated[float, Field(gt=0, lt=1)]


def _as_text(value: Any) -> Any:
    """A code that YAML took for a number, as text; what it took for a truth value was another word in the file."""
    if isinstance(value, bool):
        raise ValueError("YAML reads yes, no, on, off, true and false as truth values; put the code in quotes")
    if isinstance(value, int | float):
        return str(value)
    return value


_Code = Annotated[str, BeforeValidator(_as_text)]


class NetworkSettings(Section):
    """A multi-layer perceptron; without hidden layers it is logistic regression."""

    hidden: tuple[Annotated[int, Field(ge=1, le=4096)], ...] = Field((64, 32), description="units of each layer")
    dropout: float = Field(0.1, ge=0, lt=1, description="share of hidden units left out at each training step")
    norm: Literal["batch", "none"] = Field("batch", description="of hidden layers; FedBN needs batch")


class AlertGoals(Section):
    """What alert thresholds are chosen for, on validation cases."""

    sensitivity: tuple[_Share, ...] = Field((0.8,), description="share of the outcomes that alerts must find")
    ppv: tuple[_Share, ...] = Field((0.3,), description="share of the alerts that must be right")
    alerts_per_100: tuple[Annotated[float, Field(gt=0, lt=100)], ...] = Field(
        (10.0,), description="alerts per 100 rows that staff can follow up"
    )


class ClinicalRiskSettings(Section):
    """The `workload` section of job.yaml for kind clinical_risk."""

    contract: Contract = Field(description="name of the file beside job.yaml that says what each column means")
    network: NetworkSettings = NetworkSettings()
    normalisation: Literal["federated", "site"] = Field(
        "federated", description="one mean and scale a column from all training sites' sums, or each site's own"
    )
    split: SplitRule = SplitRule()
    alerts: AlertGoals = AlertGoals()


class CsvSource(Section):
    """A text table; a .zip with one file in it too."""

    kind: Literal["csv"] = Field(description="fields with a separator")
    file: Path = Field(description="from the folder of site.yaml, or in full")
    separator: str = Field(
        ",",
        min_length=1,
        max_length=1,
        pattern=r'[^\r\n"\x00]',
        description="of fields: one character, no quote or line end",
    )
    decimal: Literal[".", ","] = Field(".", description="mark in numbers")
    encoding: str = Field("utf-8", description="such as cp1252 for files of older Windows programs")
    header: bool | tuple[str, ...] = Field(
        True, description="the first line names the columns; or their names, where none does"
    )


class ParquetSource(Section):
    """A Parquet file."""

    kind: Literal["parquet"] = Field(description="Parquet's own format")
    file: Path = Field(description="from the folder of site.yaml, or in full")


class SqlSource(Section):
    """A query through SQLAlchemy. The URL holds credentials, so it stands in the environment or a mounted file."""

    kind: Literal["sql"] = Field(description="a query of a database")
    query: str = Field(min_length=1, description="in the database's own SQL, with an ORDER BY")
    url_variable: str | None = Field(None, description="environment variable with the SQLAlchemy URL")
    url_file: Path | None = Field(None, description="file with the URL, such as a mounted secret")

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.url_variable is None) == (self.url_file is None):
            raise ValueError("give exactly one of url_variable and url_file")
        return self


Source = Annotated[CsvSource | ParquetSource | SqlSource, Field(discriminator="kind")]


class ColumnMapping(Section):
    """Where a column of the contract comes from at this site.

    A value that was measured after the index date gives the outcome away, so `time` names the column that says when;
    where the source has none, `known_at_index` declares that the value is known by then.
    """

    column: str = Field(min_length=1, description="its name in the source")
    unit: str | None = Field(None, description="of the site's values; by default the contract's")
    codes: dict[_Code, _Code] = Field(default_factory=dict, description="the site's codes to the contract's values")
    missing: tuple[_Code, ...] = Field((), description="the site's own codes for missing")
    time: str | None = Field(None, description="column with the time of the measurement")
    known_at_index: bool = Field(False, description="declares that the value is known at the index date")


class OutcomeMapping(Section):
    """Where the outcome comes from."""

    column: str = Field(min_length=1, description="its name in the source")
    codes: dict[_Code, _Code] = Field(default_factory=dict, description="the site's codes to positive and negative")


class ClinicalRiskSiteSettings(DeclaredData):
    """The `clinical_risk` section of a hospital's site.yaml, or a study's of that kind by its own name."""

    source: Source = Field(description="a text file, a Parquet file or a database")
    patient: str | None = Field(None, description="column of the patient's id; null: each row is another patient")
    row_id: str | None = Field(None, description="column that identifies a row, such as an encounter's number")
    index_date: str | None = Field(None, description="column of the index date")
    rows: dict[str, tuple[_Code, ...]] = Field(
        default_factory=dict, description="source column to the values whose rows are this site's; by default all rows"
    )
    columns: dict[Name, ColumnMapping | None] = Field(
        description="the contract's columns to this table's; null: it has none, so the value is missing in every row"
    )
    known_at_index: bool = Field(False, description="declares it for every column without a `time`")
    outcome: OutcomeMapping
    exclusions: dict[Name, ColumnMapping | None] = Field(
        default_factory=dict, description="the contract's exclusions to this table's columns; null: it has no such rows"
    )
    split_column: str | None = Field(None, description="column that says train, validation or test, for a given split")
    split: SiteSplit = Field(SiteSplit(), description="over the study's, such as test_fraction: 1 where all is scored")
    contract_file: Path | None = Field(None, description="the contract that this hospital agreed to, if it keeps one")
    opt_out_file: Annotated[Path | None, SAID_OR_LEFT_OUT] = Field(None, description=DESCRIPTION)
