"""Rows of a source that are this site's: what the study's rules are then applied to."""

from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wardround.records.faults import fault
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.clinical_risk.contract import Contract
from wardround.workloads.clinical_risk.findings import TableFindings, values_of
from wardround.workloads.clinical_risk.settings import ClinicalRiskSiteSettings
from wardround.workloads.clinical_risk.sources import SourceRows, column_of
from wardround.workloads.clinical_risk.times import Times
from wardround.workloads.clinical_risk.values import as_text, code_text


@dataclass
class EligibleRows:
    """Rows that are left, in the source's order.

    Args:
        frame: the source's columns.
        numbers: of the rows in the source, from 1, without a header.
        row_ids: the site's own, or the number as text.
        patients: ids; null where the source has none.
        index: index dates, if the site has them.
        opted_out: those rows of patients who opted out that would be left otherwise; they are in nothing else.
    """

    frame: pl.DataFrame
    numbers: NDArray[np.int64]
    row_ids: pl.Series
    patients: pl.Series
    index: Times | None = field(default=None)
    opted_out: "EligibleRows | None" = field(default=None)

    def take(self, mask: pl.Series) -> "EligibleRows":
        """The rows where the mask is true, as rows of their own."""
        taken = replace(self)
        taken.keep(mask)
        return taken

    def keep(self, mask: pl.Series) -> None:
        """Leaves out the rows where the mask is not true."""
        mask = mask.fill_null(False)
        if mask.all():
            return
        self.frame = self.frame.filter(mask)
        self.numbers = self.numbers[mask.to_numpy()]
        self.row_ids, self.patients = self.row_ids.filter(mask), self.patients.filter(mask)
        if self.index is not None:
            self.index = self.index.filter(mask)


def own_rows(
    contract: Contract, site: ClinicalRiskSiteSettings, source: SourceRows, findings: TableFindings
) -> EligibleRows:
    """The rows of a source that several sites share which are this site's, with their ids.

    Raises:
        WardroundError: no row is.
    """
    frame = source.frame
    numbers = np.arange(1, frame.height + 1, dtype=np.int64)
    for column, values in site.rows.items():
        text = as_text(column_of(frame, column), decimal=source.decimal)
        mask = text.is_in([code_text(value) for value in values]).fill_null(False)
        if not mask.any():
            raise WardroundError(
                Reason.DATA_MISSING,
                fault(
                    f"no row has {' or '.join(values)} in column {column} (key rows of site.yaml); "
                    f"it has {values_of(text)}",
                    file=source.name,
                    column=column,
                    expected=f"a row with {' or '.join(values)}",
                    advice="correct rows in site.yaml",
                ),
            )
        frame, numbers = frame.filter(mask), numbers[mask.to_numpy()]
    codes = [code_text(code) for code in contract.missing]
    row_ids = pl.Series("row_id", numbers).cast(pl.String)
    if site.row_id is not None:
        given = _without_missing(as_text(column_of(frame, site.row_id), decimal=source.decimal), codes)
        absent = given.null_count()
        if absent:
            findings.error(
                Reason.DATA_MISSING,
                f"{absent} of {len(given)} rows have no id and go by their number in the table",
                column=site.row_id,
                expected="an id in every row",
                advice="fill the column in, or take row_id out of site.yaml",
            )
        row_ids = pl.select(pl.when(given.is_null()).then("row " + row_ids).otherwise(given)).to_series()
    patients = row_ids
    if site.patient is not None:
        patients = _without_missing(as_text(column_of(frame, site.patient), decimal=source.decimal), codes)
    return EligibleRows(frame, numbers, row_ids, patients)


def _without_missing(text: pl.Series, codes: list[str]) -> pl.Series:
    return pl.select(pl.when((text != "") & ~text.is_in(codes)).then(text)).to_series()
