"""Rows that are no part of the study, by the contract's exclusions."""

import polars as pl

from wardround.records.reasons import Reason
from wardround.workloads.clinical_risk.contract import Contract
from wardround.workloads.clinical_risk.findings import TableFindings, values_of
from wardround.workloads.clinical_risk.settings import ClinicalRiskSiteSettings
from wardround.workloads.clinical_risk.sources import SourceRows, column_of
from wardround.workloads.clinical_risk.values import as_text, code_text


def excluded_rows(
    frame: pl.DataFrame,
    contract: Contract,
    site: ClinicalRiskSiteSettings,
    source: SourceRows,
    findings: TableFindings,
    *,
    labelled: bool,
) -> pl.Series:
    """One truth value a row, with a note an exclusion on how many rows it is the first to leave out.

    A row is excluded where its code stands for one of the exclusion's values, or is one; a row without a value and one
    whose code nobody named stay in. An exclusion that no row of a whole table has is an error, since its codes may be
    another system's; in rows to predict for, which may be few, it is none.
    """
    excluded = pl.repeat(False, frame.height, eager=True, dtype=pl.Boolean)
    for exclusion in contract.exclusions:
        key, mapping = f"exclusions.{exclusion.column}", site.exclusions[exclusion.column]
        if mapping is None:
            findings.note(
                Reason.ROW_EXCLUDED, f"0 rows left out: {exclusion.meaning} ({key}: null in site.yaml)", count=0
            )
            continue
        text = as_text(column_of(frame, mapping.column), decimal=source.decimal)
        codes = {code_text(code): target for code, target in mapping.codes.items()}
        found = text.replace(codes).is_in(list(exclusion.values)).fill_null(False)
        if labelled and not found.any():
            asked = [code for code, target in mapping.codes.items() if target in exclusion.values]
            findings.error(
                Reason.VALUE_INVALID,
                f"no row has {', '.join(asked or exclusion.values)}, so none is left out for: {exclusion.meaning}; "
                f"it has {values_of(text)}",
                column=mapping.column,
                advice=f"correct {key}.codes of site.yaml, or write {key}: null where the table has no such rows",
            )
        count = int((found & ~excluded).sum())
        findings.note(Reason.ROW_EXCLUDED, f"{count} rows left out: {exclusion.meaning}", count=count)
        excluded |= found
    return excluded
