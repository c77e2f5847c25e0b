"""Tables from a database through SQLAlchemy. What the URL holds is told to nobody."""

import os
from collections.abc import Set
from typing import Any

import polars as pl

from wardround.records.faults import Fault, fault
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.clinical_risk.settings import SqlSource
from wardround.workloads.progress import Progress, unseen

_CHUNK = 20_000
_SHORTEST_TO_MASK = 3  # a shorter secret cannot be cut out of a message without breaking every word: then tell none


def read_query(
    source: SqlSource, wanted: Set[str], progress: Progress = unseen, *, rows: bool = True
) -> tuple[pl.DataFrame, list[str]]:
    """Runs the query as it stands and reads its rows.

    SQLite and PostgreSQL refuse a query that would change anything; nothing is ever committed, but some databases
    commit a DROP by themselves: there, give an account that may only read.

    Args:
        source: the query, and where the database's URL stands.
        wanted: columns to read.
        progress: is told how many rows are read.
        rows: False asks for the columns' names alone.

    Returns:
        The wanted columns that are there, and the names of all.

    Raises:
        WardroundError: no URL where site.yaml says it is, no driver, no connection, or the query fails. The message
            never holds the URL or a part of it.
    """
    try:
        import sqlalchemy
        from sqlalchemy.exc import NoSuchModuleError, SQLAlchemyError
    except ModuleNotFoundError as error:
        raise WardroundError(
            Reason.MODULE_MISSING,
            fault("source.kind sql needs SQLAlchemy", advice="install wardround[tabular]"),
        ) from error
    text = _url(source)
    # Each failure is raised out of its handler: a chained exception would show the URL in a traceback.
    try:
        url: sqlalchemy.URL | None = sqlalchemy.make_url(text)
    except (SQLAlchemyError, ValueError):  # ValueError: a port that is no number, often a part of the password
        url = None
    if url is None:
        raise WardroundError(
            Reason.CREDENTIALS_MISSING,
            fault(
                "no SQLAlchemy URL",
                key=_place(source),
                expected="dialect+driver://user:password@host/database",
                advice="with special characters of the password percent-encoded",
            ),
        )
    failure: WardroundError
    try:
        engine = sqlalchemy.create_engine(url)
        try:
            with engine.connect() as connection:
                if connection.dialect.name == "sqlite":
                    connection.exec_driver_sql("PRAGMA query_only=ON")
                elif connection.dialect.name == "postgresql":
                    connection = connection.execution_options(postgresql_readonly=True)
                result = connection.exec_driver_sql(source.query)
                names = [str(name) for name in result.keys()]  # noqa: SIM118 - a result is no dict
                kept = [index for index, name in enumerate(names) if name in wanted] or [0]
                chunks = []
                for part in result.partitions(_CHUNK) if rows else ():
                    chunks.append(_frame(part, kept))
                    progress("rows", sum(chunk.height for chunk in chunks), None)
        finally:
            engine.dispose()
        return _joined(chunks, [names[index] for index in kept]), names
    except ModuleNotFoundError as error:
        failure = WardroundError(
            Reason.MODULE_MISSING,
            fault(
                f"the database needs the package {error.name}",
                key=_place(source),
                advice="install it, or name another driver",
            ),
        )
    except NoSuchModuleError:
        failure = WardroundError(
            Reason.CREDENTIALS_MISSING,
            fault(
                "names a kind of database that SQLAlchemy does not know",
                key=_place(source),
                expected="a start such as postgresql+psycopg://",
            ),
        )
    except Exception as error:  # drivers raise what they like, with the URL's parts in it
        failure = WardroundError(Reason.DATA_UNREADABLE, _told(error, url, text))
    raise failure


def _url(source: SqlSource) -> str:
    if source.url_variable is not None:
        url = os.environ.get(source.url_variable, "").strip()
    else:
        assert source.url_file is not None  # the schema allows no third way
        try:
            url = source.url_file.read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:  # ValueError: a null character in the path, or no UTF-8 in the file
            raise WardroundError(
                Reason.CREDENTIALS_MISSING,
                fault(
                    type(error).__name__,
                    key=_place(source),
                    advice="mount a file with the database's SQLAlchemy URL there",
                ),
            ) from None
    if not url:
        raise WardroundError(
            Reason.CREDENTIALS_MISSING,
            fault(
                "not set or empty",
                key=_place(source),
                advice="put the database's SQLAlchemy URL there, never into site.yaml",
            ),
        )
    return url


def _place(source: SqlSource) -> str:
    if source.url_variable is not None:
        return f"source.url_variable {source.url_variable}"
    return f"source.url_file {source.url_file}"


def _frame(rows: Any, kept: list[int]) -> pl.DataFrame:
    fields = list(zip(*rows, strict=True))
    return pl.DataFrame([_series(str(index), fields[index]) for index in kept])


def _series(name: str, values: tuple[Any, ...]) -> pl.Series:
    """A typed column; text where its values are of several types, as SQLite allows."""
    try:
        series = pl.Series(name, values, strict=True)
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        return pl.Series(name, [None if value is None else str(value) for value in values], dtype=pl.String)
    if series.dtype == pl.Object:  # a driver's own type, such as PostgreSQL's uuid
        return pl.Series(name, [None if value is None else str(value) for value in values], dtype=pl.String)
    return series.str.strip_chars() if series.dtype == pl.String else series


def _joined(chunks: list[pl.DataFrame], names: list[str]) -> pl.DataFrame:
    if not chunks:
        return pl.DataFrame()
    try:
        frame = pl.concat(chunks, how="vertical_relaxed")
    except pl.exceptions.PolarsError:
        frame = pl.concat([chunk.cast(pl.String) for chunk in chunks])
    if len(set(names)) == len(names):
        frame.columns = names
    return frame


def _told(error: Exception, url: Any, text: str) -> Fault:
    """The database's own words without any part of the URL."""
    cause = getattr(error, "orig", None)
    kind = type(cause or error).__name__
    hint = "check the query, and that the database can be reached"
    parts = [url.password, url.username, url.host, url.database, text, *map(str, url.query.values())]
    held = [str(part) for part in parts if part]
    words = " ".join(str(cause).split()) if cause is not None else ""
    if not words or any(len(part) < _SHORTEST_TO_MASK for part in held):
        return fault(f"the query of source.query failed ({kind})", advice=hint)
    for part in sorted(held, key=len, reverse=True):
        words = words.replace(part, "***")
    return fault(f"the query of source.query failed ({kind}: {words:.200})", advice=hint)
