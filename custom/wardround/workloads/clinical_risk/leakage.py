"""What was measured too late to be known when the risk is asked for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wardround.records.faults import Fault, Where, fault
from wardround.records.inspection import Finding, Severity
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.clinical_risk.contract import Contract, Name, Window
from wardround.workloads.clinical_risk.settings import ClinicalRiskSiteSettings, ColumnMapping
from wardround.workloads.clinical_risk.times import Times


@dataclass(frozen=True)
class Outside:
    """Which rows' values lie outside their window."""

    late: pl.Series
    early: pl.Series


def undeclared(contract: Contract, site: ClinicalRiskSiteSettings) -> list[Finding]:
    """Asks of every input either when it was measured, or a declaration that it is known at the index date.

    Returns:
        Errors: inputs have neither, which is one finding for all of them, or both, there is no index date to compare
        with, or an input is read from the outcome's own column. Inputs that site.yaml does not map are passed over.
    """
    mapped = {name: mapping for name in contract.columns if (mapping := site.columns.get(name)) is not None}
    told = [*_of_patient(site), *(one for name, mapping in mapped.items() for one in _of_input(name, mapping, site))]
    open_ones = [name for name, mapping in mapped.items() if mapping.time is None and not mapping.known_at_index]
    return [*told, *([] if site.known_at_index or not open_ones else [_without_time(open_ones)])]


def _of_patient(site: ClinicalRiskSiteSettings) -> Iterator[Finding]:
    if site.patient is not None and site.patient == site.outcome.column:
        found, advice = f"{site.patient} is the outcome's column too", "name the one that holds patient ids"
        yield _error(Reason.CONFIGURATION_INVALID, found, "patient", advice=advice)


def _of_input(name: Name, mapping: ColumnMapping, site: ClinicalRiskSiteSettings) -> Iterator[Finding]:
    key = f"columns.{name}"
    if mapping.column == site.outcome.column:
        found = f"{mapping.column} is the outcome's own column, which would predict itself"
        yield _error(Reason.KNOWN_TOO_LATE, found, f"{key}.column", advice="name another")
    elif mapping.column == site.patient:
        found = f"{mapping.column} is the patient's id, which is no input"
        yield _error(Reason.CONFIGURATION_INVALID, found, f"{key}.column", advice="name another column")
    if mapping.time is not None and mapping.known_at_index:
        found, advice = "has both `time` and `known_at_index`", "keep the one that is true"
        yield _error(Reason.CONFIGURATION_INVALID, found, key, advice=advice)
    elif mapping.time is not None and site.index_date is None:
        found, advice = "needs the index date to compare with", "name its column at index_date"
        yield _error(Reason.CONFIGURATION_INVALID, found, f"{key}.time", advice=advice)


def _without_time(names: Sequence[Name]) -> Finding:
    """One finding for all of them, since one line declares them all."""
    return _error(
        Reason.KNOWN_TOO_LATE,
        f"neither `time` nor `known_at_index: true` at {', '.join(names)}",
        "columns",
        expected="one of the two for each",
        advice="if all of these are known at the index date, write the line `known_at_index: true` beside `columns`, "
        "which declares them all; of any other name at `time` the column that says when it was measured. A value from "
        "after the index date gives the outcome away",
        count=len(names),
    )


def _error(kind: Reason, found: str, key: str, *, expected: str = "", advice: str, count: int = 1) -> Finding:
    told = fault(found, file="site.yaml", key=key, expected=expected, advice=advice, count=count)
    return Finding.of(Severity.ERROR, kind, told)


def outside_window(
    measured: Times, index: Times, window: Window, *, where: Where, index_column: str, rows: NDArray[np.int64]
) -> Outside:
    """Compares times of measurement with the index date, each row on its own.

    Where both have a time of day, a value is late from the next instant on. Where one of the two is a date without one,
    it is as good as any moment of that day, so days are compared, as the hospital's clock shows them.

    Args:
        measured: one time a row.
        index: one index date a row.
        window: in days from it.
        where: the source and the column of `measured`.
        index_column: that of `index`.
        rows: the rows' numbers in the source.

    Raises:
        WardroundError: moments are to be compared and one of the two says no time zone.
    """
    by_day = measured.date_only | index.date_only
    zoned, index_zoned = measured.instant.is_not_null(), index.instant.is_not_null()
    unlike = (zoned != index_zoned) & ~by_day & measured.local.is_not_null() & index.local.is_not_null()
    if unlike.any():
        first = int(unlike.arg_true()[0])
        one, other = ("a", "none") if zoned[first] else ("no", "one")
        raise WardroundError(
            Reason.DATA_UNREADABLE,
            Fault(
                found=f"says {one} time zone in row {rows[first]} and {index_column} {other}, so the two cannot be "
                f"compared, as in {int(unlike.sum())} of {len(rows)} rows",
                where=where,
                advice="export both alike",
            ),
        )
    frame = pl.DataFrame(
        {
            "measured": measured.local, "index": index.local, "measured_utc": measured.instant,
            "index_utc": index.instant, "by_day": by_day, "zoned": zoned,
        }
    )  # fmt: skip
    time, date = (
        pl.when("by_day").then(pl.col(name).dt.truncate("1d")).when("zoned").then(f"{name}_utc").otherwise(name)
        for name in ("measured", "index")
    )
    late = time > date + timedelta(days=window.to_days)
    early = pl.lit(False) if window.from_days is None else time < date + timedelta(days=window.from_days)
    told = frame.select(late=late.fill_null(False), early=early.fill_null(False))
    return Outside(told["late"], told["early"])
