"""Which part of the patients each row belongs to."""

from itertools import pairwise

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
    edges = [_text(edge) for edge in cohort.edges]
    inner = [f"{low}_to_{high}" for low, high in pairwise(edges)]
    bands = [f"below_{edges[0]}", *inner, f"{edges[-1]}_up"]
    values = column.cast(pl.Float64).fill_null(np.nan).to_numpy()
    places = np.searchsorted(cohort.edges, values, side="right")
    return [None if missing else bands[place] for place, missing in zip(places, np.isnan(values), strict=True)]


def _text(edge: float) -> str:
    """As part of a name, in which there is neither a sign nor a point: -1.5 is minus_1_5."""
    return f"{edge:g}".replace("-", "minus_").replace(".", "_").replace("+", "")
