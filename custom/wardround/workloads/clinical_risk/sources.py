"""A hospital's table as it lies there: a text file, a Parquet file or a query, read without judging its values."""

from collections import Counter
from collections.abc import Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass

import polars as pl

from wardround.records.faults import fault
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.clinical_risk.csv_file import csv_names, read_csv
from wardround.workloads.clinical_risk.settings import CsvSource, ParquetSource, Source
from wardround.workloads.clinical_risk.sql_query import read_query
from wardround.workloads.plain_file import refuse_no_file
from wardround.workloads.progress import Progress, unseen

_QUERY = "the query"
_NAME_IT = "name it at source.file of site.yaml"
_READABLE = (pl.String, pl.Categorical, pl.Enum, pl.Boolean, pl.Date, pl.Datetime, pl.Null)


@dataclass(frozen=True)
class SourceRows:
    """A source's rows.

    Args:
        frame: the wanted columns that are there, in the source's order; text from a text file, else as they are typed.
        names: of all columns that are there.
        name: of the source, for messages.
        decimal: the decimal sign of numbers in text.
    """

    frame: pl.DataFrame
    names: list[str]
    name: str
    decimal: str = "."


def read_source(source: Source, wanted: Set[str], progress: Progress = unseen) -> SourceRows:
    """Reads the wanted columns; one that is not there is left to the caller, who knows what it is for.

    Raises:
        WardroundError: the source cannot be read as what it is said to be, is empty, names a column
            twice, or holds what no rule reads.
    """
    decimal = "."
    if isinstance(source, CsvSource):
        frame, names = read_csv(source, wanted, progress)
        name, decimal = source.file.name, source.decimal
    elif isinstance(source, ParquetSource):
        frame, names = _read_parquet(source, wanted)
        name = source.file.name
    else:
        frame, names = read_query(source, wanted, progress)
        name = _QUERY
    progress("rows", frame.height, frame.height)
    twice = sorted(column for column, count in Counter(names).items() if count > 1)
    if twice:
        raise WardroundError(
            Reason.DATA_UNREADABLE,
            *(
                fault("is there twice", file=name, column=column, advice="give each column a name of its own")
                for column in twice
            ),
        )
    _refuse_other_types(frame, wanted, name)
    if not frame.height:
        told = fault("has columns, but no row", file=name, advice="export the patients too")
        raise WardroundError(Reason.DATA_MISSING, told)
    return SourceRows(frame, names, name, decimal)


def source_columns(source: Source) -> tuple[str, list[str]]:
    """The source's name for messages, and the names of its columns, without a look at its rows.

    Raises:
        WardroundError: as `read_source`, for what a header tells.
    """
    if isinstance(source, CsvSource):
        return source.file.name, csv_names(source)
    if isinstance(source, ParquetSource):
        refuse_no_file(source.file, expected="a table", advice=_NAME_IT)
        with _told_as_parquet(source):
            return source.file.name, list(pl.read_parquet_schema(source.file))
    return _QUERY, read_query(source, frozenset(), rows=False)[1]


def column_of(frame: pl.DataFrame, name: str) -> pl.Series:
    """A source's column under a plain name: polars takes one such as `^age$` or `*` for a pattern in most methods."""
    return frame.get_column(name).alias("value")


def _refuse_other_types(frame: pl.DataFrame, wanted: Set[str], source: str) -> None:
    """Refuses columns whose values no rule reads: times without a date, lengths of time, bytes, lists, records."""
    other = [
        fault(
            f"holds {dtype}",
            file=source,
            column=name,
            expected="numbers, text, truth values, dates or dates with times",
            advice="convert it where the table is exported, such as a length of time to a number of days",
        )
        for name, dtype in frame.schema.items()
        if name in wanted and not (dtype.is_numeric() or dtype in _READABLE)
    ]
    if other:
        raise WardroundError(Reason.DATA_UNREADABLE, *other)


def _read_parquet(source: ParquetSource, wanted: Set[str]) -> tuple[pl.DataFrame, list[str]]:
    refuse_no_file(source.file, expected="a table", advice=_NAME_IT)
    with _told_as_parquet(source):
        names = list(pl.read_parquet_schema(source.file))
        # by place, not by name: polars would take a name such as ^age$ for a pattern
        places = [place for place, name in enumerate(names) if name in wanted]
        # without a wanted column the caller names what is missing, and needs a row to get there
        return pl.read_parquet(source.file, columns=places or [0]), names


@contextmanager
def _told_as_parquet(source: ParquetSource) -> Iterator[None]:
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        raise WardroundError(
            Reason.DATA_UNREADABLE,
            fault(
                f"not readable as Parquet ({str(error).splitlines()[0]:.120})",
                file=source.file,
                advice="check the file, or that source.kind is right",
            ),
        ) from error
