"""A hospital's table in the contract's terms: same columns, units and categories at every site."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.clinical_risk.contract import Contract
from wardround.workloads.clinical_risk.eligibility import EligibleRows, eligible_rows
from wardround.workloads.clinical_risk.findings import Findings, too_many
from wardround.workloads.clinical_risk.input_column import read_column
from wardround.workloads.clinical_risk.mapping import refuse_misfit, refuse_missing_columns, wanted_columns
from wardround.workloads.clinical_risk.settings import ClinicalRiskSiteSettings
from wardround.workloads.clinical_risk.sources import SourceRows, column_of, read_source
from wardround.workloads.clinical_risk.values import MISSING, as_text, code_text


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
        problems: values and rows that were left out, see `Findings`.
        doubts: what makes the table unfit until somebody has looked at it.
        remarks: what an admin should know.
    """

    frame: pl.DataFrame
    outcome: NDArray[np.uint8]
    patients: list[str]
    rows: NDArray[np.int64]
    row_ids: list[str]
    source_rows: int = 0
    index_dates: pl.Series | None = None
    given_split: list[str] | None = None
    problems: Sequence[WardroundError] = field(default_factory=list)
    doubts: Sequence[WardroundError] = field(default_factory=list)
    remarks: Sequence[WardroundError] = field(default_factory=list)


def read_table(contract: Contract, site: ClinicalRiskSiteSettings, *, labelled: bool = True) -> Table:
    """Reads a site's table.

    Args:
        contract: the study's.
        site: the section of site.yaml.
        labelled: False reads rows to predict for, whose outcome nobody knows.

    Raises:
        WardroundError: the section does not fit the contract, the source cannot be read or lacks a column, or no row
            is usable. A fault in a value or row is no error but a problem of the table.
    """
    refuse_misfit(contract, site)
    wanted = wanted_columns(site, labelled=labelled)
    source = read_source(site.source, wanted.keys())
    refuse_missing_columns(wanted, source.names, source.name)
    findings = Findings(source.name)
    rows = eligible_rows(contract, site, source, findings, labelled=labelled)
    outcome = _read_outcome(rows, contract, site, source, findings) if labelled else np.zeros(0, np.uint8)
    if not len(rows.numbers):
        raise WardroundError(Reason.DATA_MISSING, _no_row(source, findings))
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
        problems=findings.problems,
        doubts=findings.doubts,
        remarks=findings.remarks,
    )


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
    findings: Findings,
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
    findings.faulty(Reason.OUTCOME_MISSING, column, absent, rows.numbers, lambda _: "no outcome; the row is left out")
    known = ", ".join(code for code, target in table.items() if target in (positive, negative))
    count = findings.faulty(
        Reason.VALUE_INVALID,
        column,
        unknown,
        rows.numbers,
        lambda position: f"outcome {text[position]!r}, expected one of {known}; the row is left out",
    )
    if too_many(count, len(text)):
        findings.doubt(
            Reason.VALUE_INVALID,
            f"column {column}: {count} of {len(text)} outcomes are no known code; see outcome.codes of site.yaml",
        )
    usable = ~absent & ~unknown
    rows.keep(usable)
    return (labels.filter(usable) == positive).to_numpy().astype(np.uint8)


def _no_row(source: SourceRows, findings: Findings) -> str:
    told = "\n".join(str(one) for one in [*findings.remarks, *findings.problems][:8])
    return f"{source.name}: no row is usable" + (f"; what was left out:\n{told}" if told else "")
