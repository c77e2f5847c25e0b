"""One input of the contract, read from a site's rows."""

from functools import partial

import polars as pl

from wardround.records.faults import Where
from wardround.records.reasons import Reason
from wardround.workloads.clinical_risk.contract import CategoryColumn, Contract, NumberColumn
from wardround.workloads.clinical_risk.eligible_rows import EligibleRows
from wardround.workloads.clinical_risk.findings import TableFindings, cut, too_many
from wardround.workloads.clinical_risk.leakage import outside_window
from wardround.workloads.clinical_risk.likely_cause import better_unit, other_decimal
from wardround.workloads.clinical_risk.settings import ClinicalRiskSiteSettings, ColumnMapping
from wardround.workloads.clinical_risk.sources import column_of
from wardround.workloads.clinical_risk.times import EXPECTED, read_times
from wardround.workloads.clinical_risk.values import (
    Values,
    as_text,
    code_text,
    read_categories,
    read_numbers,
)


def read_column(
    name: str,
    column: NumberColumn | CategoryColumn,
    contract: Contract,
    site: ClinicalRiskSiteSettings,
    rows: EligibleRows,
    *,
    decimal: str,
    findings: TableFindings,
) -> pl.Series:
    """The column's values in the contract's terms, named `name`; null where missing, faulty or known too late."""
    mapping = site.columns[name]
    if mapping is None:
        return _absent(name, column, len(rows.numbers), findings)
    raw = column_of(rows.frame, mapping.column)
    missing = (*contract.missing, *column.missing, *mapping.missing)
    if isinstance(column, NumberColumn):
        read = read_numbers(raw, column, unit=mapping.unit, codes=mapping.codes, missing=missing, decimal=decimal)
    else:
        read = read_categories(raw, column, codes=mapping.codes, missing=missing, decimal=decimal)
    _tell_faults(name, column, mapping, raw, read, rows, findings, decimal=decimal)
    values = read.values
    if mapping.time is not None:
        values = _known_in_time(name, column, contract, site, mapping.time, values, rows, findings)
    _tell_constant(name, mapping.column, values, findings)
    return values.alias(name)


def _absent(name: str, column: NumberColumn | CategoryColumn, rows: int, findings: TableFindings) -> pl.Series:
    findings.note(
        Reason.COLUMN_CONSTANT,
        f"{name} is declared absent (columns.{name}: null in site.yaml), so it is missing in all {rows} rows",
    )
    kind = pl.Float64 if isinstance(column, NumberColumn) else pl.String
    return pl.repeat(None, rows, eager=True, dtype=kind).alias(name)


def _tell_faults(
    name: str,
    column: NumberColumn | CategoryColumn,
    mapping: ColumnMapping,
    raw: pl.Series,
    read: Values,
    rows: EligibleRows,
    findings: TableFindings,
    *,
    decimal: str,
) -> None:
    if isinstance(column, NumberColumn):
        expected = "a number" + (" with decimal comma" if decimal == "," else "")
        key = f"columns.{name}.unit, .codes and .missing"
    else:
        expected = f"one of {', '.join([*mapping.codes, *column.values])}"
        key = f"columns.{name}.codes"
    present = len(raw) - int(read.values.null_count())
    add = partial(findings.faulty, column=mapping.column, rows=rows.numbers)
    invalid = add(
        Reason.VALUE_INVALID,
        faults=read.invalid,
        found=lambda at: f"{name} is {cut(repr(raw[at]))}",
        expected=expected,
        advice=f"taken as missing; correct it, or see {key} of site.yaml",
    )
    implausible = 0
    if isinstance(column, NumberColumn):
        unit = mapping.unit or column.unit
        low, high = column.range
        implausible = add(
            Reason.VALUE_IMPLAUSIBLE,
            faults=read.implausible,
            found=lambda at: f"{name} is {cut(raw[at])} {unit}",
            expected=f"{low:g} to {high:g} {column.unit}",
            advice=f"taken as missing; correct it, or see columns.{name}.unit of site.yaml",
        )
    among = present + invalid + implausible
    if too_many(invalid + implausible, among):
        code = Reason.VALUE_INVALID if invalid >= implausible else Reason.VALUE_IMPLAUSIBLE
        findings.error(
            code,
            f"{invalid + implausible} of {among} values of {name} are not usable",
            column=mapping.column,
            expected=expected if code is Reason.VALUE_INVALID else _range(column),
            advice=f"see {key} of site.yaml{better_unit(column, mapping, raw, read, decimal)}"
            f"{other_decimal(column, raw, read, decimal)}",
        )
    _tell_unseen(name, column, mapping, raw, read, findings)


def _tell_unseen(
    name: str,
    column: NumberColumn | CategoryColumn,
    mapping: ColumnMapping,
    raw: pl.Series,
    read: Values,
    findings: TableFindings,
) -> None:
    count = int(read.unseen.sum())
    if not count or not isinstance(column, CategoryColumn):
        return
    codes = as_text(raw).filter(read.unseen).value_counts(sort=True)
    shown = ", ".join(f"{cut(code)} ({number})" for code, number in codes.head(5).rows())
    more = f", and {codes.height - 5} more codes" if codes.height > 5 else ""
    told = f"1 value of {name} is" if count == 1 else f"{count} values of {name} are"
    findings.note(
        Reason.CATEGORY_UNSEEN,
        f"{told} in no code of site.yaml, taken as other: {shown}{more}",
        column=mapping.column,
        advice=f"name at columns.{name}.codes what is one of {', '.join(column.values)}",
        count=count,
    )
    present = len(raw) - int(read.values.null_count())
    if count == present and count > 1:
        findings.error(
            Reason.VALUE_INVALID,
            f"none of {present} values of {name} is one of {', '.join(column.values)}",
            column=mapping.column,
            advice=f"map the site's codes at columns.{name}.codes of site.yaml",
        )


def _known_in_time(
    name: str,
    column: NumberColumn | CategoryColumn,
    contract: Contract,
    site: ClinicalRiskSiteSettings,
    time: str,
    values: pl.Series,
    rows: EligibleRows,
    findings: TableFindings,
) -> pl.Series:
    assert site.index_date is not None
    assert rows.index is not None
    raw = column_of(rows.frame, time)
    where = Where(file=findings.source, column=time)
    measured = read_times(raw, [code_text(code) for code in contract.missing], where=where)
    outside = outside_window(
        measured, rows.index, column.window, where=where, index_column=site.index_date, rows=rows.numbers
    )
    there = values.is_not_null()
    late, early, unknown = outside.late & there, outside.early & there, measured.local.is_null() & there
    dates = column_of(rows.frame, site.index_date)
    add = partial(findings.faulty, column=time, rows=rows.numbers)
    window = column.window
    count = add(
        Reason.KNOWN_TOO_LATE,
        faults=late,
        found=lambda at: (
            f"{name} was measured at {raw[at]}, later than {window.to_days} days from the index date {dates[at]}"
        ),
        expected=f"a time up to {window.to_days} days from the index date",
        advice="taken as missing; correct what is exported",
    )
    if count:
        findings.error(
            Reason.KNOWN_TOO_LATE,
            f"{count} of {int(there.sum())} values of {name} were measured too late to be known at the index date",
            column=time,
            expected=f"times up to {window.to_days} days from the index date",
            advice="they are left out, but correct what is exported: it may hold other values of that time",
        )
    add(
        Reason.MEASURED_TOO_EARLY,
        faults=early,
        found=lambda at: (
            f"{name} was measured at {raw[at]}, earlier than {window.from_days} days from the index date {dates[at]}"
        ),
        expected=f"a time from {window.from_days} days from the index date on",
        advice="taken as missing",
    )
    untimed = add(
        Reason.VALUE_INVALID,
        faults=unknown,
        found=lambda at: f"time of {name} is {cut(repr(raw[at]))}",
        expected=EXPECTED,
        advice="the value is taken as missing; export the time in this form",
    )
    if too_many(untimed, int(there.sum())):
        findings.error(
            Reason.VALUE_INVALID,
            f"{untimed} of {int(there.sum())} values of {name} have no valid time",
            column=time,
            expected=EXPECTED,
            advice="export the times in this form, or name another column",
        )
    return pl.select(pl.when(late | early | unknown).then(None).otherwise(values)).to_series()


def _tell_constant(name: str, source: str, values: pl.Series, findings: TableFindings) -> None:
    present = values.drop_nulls()
    if not len(present):
        told = f"{name} is missing in all {len(values)} rows"
        advice = "training goes on without it; check that the right column is named"
        findings.note(Reason.COLUMN_CONSTANT, told, column=source, advice=advice)
    elif len(values) > 1 and len(present) == len(values) and present.n_unique() == 1:
        told = f"{name} is {cut(present[0])} in all {len(values)} rows"
        advice = "nothing can be learned from it here; check that the right column is named"
        findings.note(Reason.COLUMN_CONSTANT, told, column=source, advice=advice)


def _range(column: NumberColumn | CategoryColumn) -> str:
    if not isinstance(column, NumberColumn):
        return ""
    low, high = column.range
    return f"{low:g} to {high:g} {column.unit}"
