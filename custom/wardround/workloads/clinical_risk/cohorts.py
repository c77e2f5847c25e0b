"""Which part of the patients each row belongs to."""

import numpy as np
import polars as pl

from wardround.workloads.clinical_risk.contract import CohortColumn, Contract


def cohorts_of(frame: pl.DataFrame, contract: Contract) -> dict[str, list[str | None]]:
    """Cohort name to each row's part of it, None where the column's value is missing.

    A category's parts are its values. A number's are bands: edges [50, 65] give `below_50`, `50_to_65` (65 is not in
    it) and `65_up`.
    """
    return {cohort.name: _parts(frame[cohort.column], cohort) for cohort in contract.cohorts}


def _parts(column: pl.Series, cohort: CohortColumn) -> list[str | None]:
    if not cohort.edges:
        return column.to_list()
    bands = cohort.bands
    values = column.cast(pl.Float64).fill_null(np.nan).to_numpy()
    places = np.searchsorted(cohort.edges, values, side="right")
    return [None if missing else bands[place] for place, missing in zip(places, np.isnan(values), strict=True)]
