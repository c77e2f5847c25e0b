"""Which rows of a source belong to the study at this site."""

import numpy as np
import polars as pl

from wardround.records.faults import Where, fault
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.clinical_risk.contract import Contract
from wardround.workloads.clinical_risk.eligible_rows import EligibleRows, own_rows
from wardround.workloads.clinical_risk.exclusions import excluded_rows
from wardround.workloads.clinical_risk.findings import TableFindings, cut
from wardround.workloads.clinical_risk.settings import ClinicalRiskSiteSettings
from wardround.workloads.clinical_risk.sources import SourceRows, column_of
from wardround.workloads.clinical_risk.times import EXPECTED, read_times
from wardround.workloads.clinical_risk.values import code_text
from wardround.workloads.opt_out import opt_out_notes, read_opt_out


def eligible_rows(
    contract: Contract,
    site: ClinicalRiskSiteSettings,
    source: SourceRows,
    findings: TableFindings,
    *,
    labelled: bool,
) -> EligibleRows:
    """Leaves out, in this order: other sites' rows, a row id's second row, those of patients who opted out, rows
    without a patient, the contract's exclusions, rows without an index date, and a patient's later rows where the
    contract takes the first alone.

    Raises:
        WardroundError: no row is this site's.
    """
    rows = own_rows(contract, site, source, findings)
    _leave_out_duplicates(rows, site, findings)
    unwilling = _leave_out_opted_out(rows, site, findings)
    _leave_out_unusable(rows, contract, site, source, findings, labelled=labelled)
    if unwilling is not None:  # whom they would have been ranked with, see `split_rows`; what is wrong is not told
        _leave_out_unusable(unwilling, contract, site, source, TableFindings(source.name), labelled=labelled)
        rows.opted_out = unwilling
    return rows


def _leave_out_unusable(
    rows: EligibleRows,
    contract: Contract,
    site: ClinicalRiskSiteSettings,
    source: SourceRows,
    findings: TableFindings,
    *,
    labelled: bool,
) -> None:
    if site.patient is not None:
        absent = rows.patients.is_null()
        findings.faulty(
            Reason.DATA_MISSING,
            site.patient,
            absent,
            rows.numbers,
            lambda _: "no patient id",
            advice="the row is left out; fill the id in, since rows of one patient have to stay together",
        )
        rows.keep(~absent)
    rows.keep(~excluded_rows(rows.frame, contract, site, source, findings, labelled=labelled))
    if site.index_date is not None:
        _read_index_dates(rows, contract, site, findings)
    if contract.rows_per_patient == "first":
        first = _first_rows(rows, with_ids=site.row_id is not None)
        later = int((~first).sum())
        if later:
            findings.note(
                Reason.ROW_EXCLUDED, f"{later} rows left out: a patient's earliest row counts alone", count=later
            )
        rows.keep(first)


def _leave_out_opted_out(
    rows: EligibleRows, site: ClinicalRiskSiteSettings, findings: TableFindings
) -> EligibleRows | None:
    listed = read_opt_out(site.opt_out_file)
    if listed and site.patient is None and site.row_id is None:
        told = fault(
            "names patients, and no column of the table is named to tell them by",
            file=site.opt_out_file,
            key="opt_out_file",
            advice="name the column of their ids at patient in site.yaml",
        )
        raise WardroundError(Reason.CONFIGURATION_INVALID, told)
    everyone = set(rows.patients.drop_nulls())
    ids = set(rows.row_ids) if site.row_id is not None else set()  # a row's number is no id that a list could mean
    notes = opt_out_notes(site.opt_out_file, listed, everyone, others=ids)
    unwilling = rows.patients.is_in(list(listed)).fill_null(False)
    taken = rows.take(unwilling)
    rows.keep(~unwilling)
    findings.add(notes)
    return taken if len(taken.numbers) else None


def _leave_out_duplicates(rows: EligibleRows, site: ClinicalRiskSiteSettings, findings: TableFindings) -> None:
    if site.row_id is None:
        return
    first = rows.row_ids.is_first_distinct()
    if first.all():
        return
    ids, numbers = rows.row_ids, rows.numbers

    def tell(position: int) -> str:
        earlier = int(numbers[int((ids == ids[position]).arg_true()[0])])
        return f"id {ids[position]} is that of row {earlier}"

    count = findings.faulty(
        Reason.CASE_DUPLICATED,
        site.row_id,
        ~first,
        numbers,
        tell,
        expected="each row once",
        advice="the row is left out; export it once",
    )
    findings.error(
        Reason.CASE_DUPLICATED,
        f"{count} of {len(ids)} rows have the id of an earlier one and are left out",
        column=site.row_id,
        expected="each row once",
        advice="name a column at row_id that tells rows apart, or export each row once",
    )
    rows.keep(first)


def _read_index_dates(
    rows: EligibleRows, contract: Contract, site: ClinicalRiskSiteSettings, findings: TableFindings
) -> None:
    assert site.index_date is not None
    raw = column_of(rows.frame, site.index_date)
    where = Where(file=findings.source, column=site.index_date)
    rows.index = read_times(raw, [code_text(code) for code in contract.missing], where=where)
    absent = rows.index.local.is_null()

    def tell(position: int) -> str:
        return f"index date {cut(repr(raw[position]))}"

    findings.faulty(
        Reason.VALUE_INVALID,
        site.index_date,
        absent,
        rows.numbers,
        tell,
        expected=EXPECTED,
        advice="the row is left out; export the date in this form",
    )
    rows.keep(~absent)


def _first_rows(rows: EligibleRows, *, with_ids: bool) -> pl.Series:
    """Each patient's earliest row: by index date, then by row id (as numbers if all are), then as the source has it."""
    order = pl.DataFrame({"patient": rows.patients, "position": np.arange(len(rows.numbers))})
    keys = ["position"]
    if with_ids:
        as_numbers = rows.row_ids.cast(pl.Int64, strict=False)
        order = order.with_columns((rows.row_ids if as_numbers.null_count() else as_numbers).alias("id"))
        keys = ["id", *keys]
    if rows.index is not None:
        when = rows.index.local if rows.index.instant.has_nulls() else rows.index.instant
        order = order.with_columns(when.alias("when"))
        keys = ["when", *keys]
    return order.sort(keys).with_columns(first=pl.col("patient").is_first_distinct()).sort("position")["first"]
