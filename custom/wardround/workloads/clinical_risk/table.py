"""A hospital's table in the contract's terms: same columns, units and categories at every site."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wardround.records.faults import fault
from wardround.records.inspection import Findings
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.clinical_risk.contract import Contract
from wardround.workloads.clinical_risk.eligibility import eligible_rows
from wardround.workloads.clinical_risk.eligible_rows import EligibleRows
from wardround.workloads.clinical_risk.findings import TableFindings, cut, too_many
from wardround.workloads.clinical_risk.first_look import refuse_unfit
from wardround.workloads.clinical_risk.input_column import read_column
from wardround.workloads.clinical_risk.mapping import missing_columns, wanted_columns
from wardround.workloads.clinical_risk.settings import ClinicalRiskSiteSettings
from wardround.workloads.clinical_risk.sources import SourceRows, column_of, read_source
from wardround.workloads.clinical_risk.values import MISSING, as_text, code_text
from wardround.workloads.progress import Progress, unseen


@dataclass(frozen=True)
class Table:
    """Usable rows, in the source's order.

    Args:
        frame: the contract's input columns in its order; numbers Float64 in the contract's unit, categories String of
            its values or `other`; null where missing.
        outcome: uint8 [rows], 1 positive; empty where labels were not asked for.
        patients: the patient of each row.
        rows: each row's number in the source, from 1, without a header.
        source_rows: how many rows the source has, with those that were left out.
        row_ids: the site's own id of each row, or its number.
        index_dates: Datetime by the hospital's clock, if the site has them.
        given_split: what the site's `split_column` says, empty where it says nothing.
        findings: errors make the table unfit until somebody has looked at it, warnings are values and rows that were
            left out, and notes what an admin should know.
        source: the name of the file or query that the rows are from.
        opted_out: patients who opted out of those that would be here otherwise, to what `split_column` says of them;
            they are in no row.
    """

    frame: pl.DataFrame
    outcome: NDArray[np.uint8]
    patients: list[str]
    rows: NDArray[np.int64]
    row_ids: list[str]
    source_rows: int = 0
    index_dates: pl.Series | None = None
    given_split: list[str] | None = None
    findings: Findings = field(default_factory=Findings)
    source: str = ""
    opted_out: Mapping[str, str] = field(default_factory=dict)


def read_table(
    contract: Contract, site: ClinicalRiskSiteSettings, *, labelled: bool = True, progress: Progress = unseen
) -> Table:
    """Reads a site's table.

    Args:
        contract: the study's.
        site: the section of site.yaml.
        labelled: False reads rows to predict for, whose outcome nobody knows.
        progress: is told how many rows are read.

    Raises:
        WardroundError: the section does not fit the contract, the source cannot be read or lacks a column, or no row
            is usable. A fault in a value or row is no error but a finding of the table.
    """
    refuse_unfit(contract, site, labelled=labelled)
    wanted = wanted_columns(site, labelled=labelled)
    source = read_source(site.source, wanted.keys(), progress)
    Findings(missing_columns(wanted, source.names, source.name)).refuse()
    findings = TableFindings(source.name)
    rows = eligible_rows(contract, site, source, findings, labelled=labelled)
    outcome = _read_outcome(rows, contract, site, source, findings) if labelled else np.zeros(0, np.uint8)
    if not len(rows.numbers):
        told = fault(
            "no row is usable", file=source.name, expected="one row at least", advice="see what was left out and why"
        )
        raise WardroundError(Reason.DATA_MISSING, told, *[*findings.found.notes, *findings.found.warnings])
    columns = [
        read_column(name, column, contract, site, rows, decimal=source.decimal, findings=findings)
        for name, column in contract.columns.items()
    ]
    split = site.split_column if labelled else None
    return Table(
        frame=pl.DataFrame(columns),
        outcome=outcome,
        patients=rows.patients.to_list(),
        rows=rows.numbers,
        row_ids=rows.row_ids.to_list(),
        source_rows=source.frame.height,
        index_dates=None if rows.index is None else rows.index.local,
        given_split=None if split is None else _given_split(column_of(rows.frame, split), contract),
        findings=findings.found,
        source=source.name,
        opted_out=_opted_out(rows.opted_out, contract, site, source, labelled=labelled),
    )


def _opted_out(
    rows: EligibleRows | None,
    contract: Contract,
    site: ClinicalRiskSiteSettings,
    source: SourceRows,
    *,
    labelled: bool,
) -> dict[str, str]:
    if rows is None or not labelled:
        return {}
    _read_outcome(rows, contract, site, source, TableFindings(source.name))
    patients = rows.patients.to_list()
    if site.split_column is None:
        return dict.fromkeys(patients, "")
    return dict(zip(patients, _given_split(column_of(rows.frame, site.split_column), contract), strict=True))


def _given_split(raw: pl.Series, contract: Contract) -> list[str]:
    text = as_text(raw)
    return (
        pl.select(pl.when(~text.is_in([code_text(code) for code in contract.missing])).then(text))
        .to_series()
        .fill_null("")
        .to_list()
    )


def _read_outcome(
    rows: EligibleRows,
    contract: Contract,
    site: ClinicalRiskSiteSettings,
    source: SourceRows,
    findings: TableFindings,
) -> NDArray[np.uint8]:
    """Labels of the rows that have one; the others are left out."""
    column = site.outcome.column
    text = as_text(column_of(rows.frame, column), decimal=source.decimal)
    positive, negative = contract.outcome.positive, contract.outcome.negative
    table = {positive: positive, negative: negative, **{code_text(code): MISSING for code in contract.missing}}
    table |= {code_text(code): target for code, target in site.outcome.codes.items()}
    labels = text.replace_strict(table, default=None, return_dtype=pl.String)
    absent = text.is_null() | (labels == MISSING).fill_null(False)
    unknown = labels.is_null() & ~absent
    findings.faulty(
        Reason.OUTCOME_MISSING,
        column,
        absent,
        rows.numbers,
        lambda _: "no outcome",
        advice="the row is left out; fill the outcome in where it is known",
    )
    known = ", ".join(code for code, target in table.items() if target in (positive, negative))
    count = findings.faulty(
        Reason.VALUE_INVALID,
        column,
        unknown,
        rows.numbers,
        lambda position: f"outcome {cut(repr(text[position]))}",
        expected=f"one of {known}",
        advice="the row is left out; name the code at outcome.codes of site.yaml",
    )
    if too_many(count, len(text)):
        findings.error(
            Reason.VALUE_INVALID,
            f"{count} of {len(text)} outcomes are no known code",
            column=column,
            expected=f"one of {known}",
            advice="name the codes at outcome.codes of site.yaml",
        )
    usable = ~absent & ~unknown
    rows.keep(usable)
    return (labels.filter(usable) == positive).to_numpy().astype(np.uint8)
