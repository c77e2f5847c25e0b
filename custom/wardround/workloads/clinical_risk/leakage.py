"""What was measured too late to be known when the risk is asked for."""

from dataclasses import dataclass
from datetime import timedelta

import polars as pl

from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.clinical_risk.contract import Contract, Window
from wardround.workloads.clinical_risk.settings import ClinicalRiskSiteSettings
from wardround.workloads.clinical_risk.times import Times


@dataclass(frozen=True)
class Outside:
    """Which rows' values lie outside their window."""

    late: pl.Series
    early: pl.Series


def refuse_undeclared(contract: Contract, site: ClinicalRiskSiteSettings) -> None:
    """Asks of every input either when it was measured, or a declaration that it is known at the index date.

    Raises:
        WardroundError: an input has neither or both, there is no index date to compare with, or an input is read from
            the outcome's own column.
    """
    if site.patient is not None and site.patient == site.outcome.column:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"site.yaml: patient: {site.patient} is the outcome's column too; name the one that holds patient ids",
        )
    for name in contract.columns:
        mapping = site.columns[name]
        if mapping is None:
            continue  # absent at this site: nothing to leak
        key = f"site.yaml: columns.{name}"
        if mapping.column == site.outcome.column:
            raise WardroundError(
                Reason.KNOWN_TOO_LATE,
                f"{key}.column: {mapping.column} is the outcome's own column, which would predict itself; name another",
            )
        if mapping.column == site.patient:
            raise WardroundError(
                Reason.CONFIGURATION_INVALID,
                f"{key}.column: {mapping.column} is the patient's id, which is no input; name another column",
            )
        if mapping.time is None and not (mapping.known_at_index or site.known_at_index):
            raise WardroundError(
                Reason.KNOWN_TOO_LATE,
                f"{key}: neither `time`, the column that says when it was measured, nor `known_at_index: true`; "
                "a value from after the index date would give the outcome away",
            )
        if mapping.time is not None and mapping.known_at_index:
            raise WardroundError(
                Reason.CONFIGURATION_INVALID, f"{key}: has both `time` and `known_at_index`; keep the one that is true"
            )
        if mapping.time is not None and site.index_date is None:
            raise WardroundError(
                Reason.CONFIGURATION_INVALID,
                f"{key}.time: needs the index date to compare with; name its column at index_date",
            )


def outside_window(measured: Times, index: Times, window: Window, *, columns: tuple[str, str]) -> Outside:
    """Compares times of measurement with the index date.

    Where the index column has a time of day, a value is late from the next instant on; a date without a time of day is
    as good as any moment of it. Where it holds dates alone, days are compared as the hospital's clock shows them.

    Args:
        measured: one time a row.
        index: one index date a row.
        window: in days from it.
        columns: names of the two in the source, for the message.

    Raises:
        WardroundError: moments are to be compared and one of the two says no time zone.
    """
    times, dates = measured.local, index.local
    if index.dates_only or measured.dates_only:
        times, dates = times.dt.truncate("1d"), dates.dt.truncate("1d")
    elif measured.instant is not None and index.instant is not None:
        times, dates = measured.instant, index.instant
    elif (measured.instant is None) != (index.instant is None):
        zoned, plain = columns if measured.instant is not None else reversed(columns)
        raise WardroundError(
            Reason.DATA_UNREADABLE,
            f"column {zoned} has time zones and {plain} has none, so the two cannot be compared; export both alike",
        )
    late = times > dates + timedelta(days=window.to_days)
    early = pl.repeat(False, len(times), eager=True, dtype=pl.Boolean)
    if window.from_days is not None:
        early = times < dates + timedelta(days=window.from_days)
    return Outside(late.fill_null(False), early.fill_null(False))
