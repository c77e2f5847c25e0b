"""Rows of a hospital's table that a released model is watched by."""

from collections.abc import Sequence
from datetime import date

import numpy as np
import torch

from wardround.records.disclosure import Disclosure
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.chosen import chosen_places
from wardround.workloads.clinical_risk.cohorts import cohorts_of
from wardround.workloads.clinical_risk.encode import encode
from wardround.workloads.clinical_risk.open_site import open_site_data
from wardround.workloads.clinical_risk.rows import Rows
from wardround.workloads.clinical_risk.settings import ClinicalRiskSettings, ClinicalRiskSiteSettings
from wardround.workloads.clinical_risk.site_data import ClinicalRiskData
from wardround.workloads.clinical_risk.table import Table, read_table
from wardround.workloads.progress import Progress
from wardround.workloads.split import SPLITS


def open_new_rows(
    settings: ClinicalRiskSettings,
    site: ClinicalRiskSiteSettings,
    *,
    disclosure: Disclosure,
    progress: Progress,
    since: date | None,
    only: Sequence[str],
) -> ClinicalRiskData:
    """Every usable row that is asked for, in the split `test`, whatever split it would be in for training.

    Under `normalisation: site` mean and scale stay those of the site's training rows: by its own new ones, what
    moved would be moved back.

    Args:
        since: the first index date; rows without one are then left out.
        only: ids of rows or patients.

    Raises:
        WardroundError: the table has no index date to go by, or no such row.
    """
    table = read_table(settings.contract, site, progress=progress)
    places = chosen_places(only, table.row_ids, table.patients)
    if since is not None:
        places = [place for place, late in zip(places, _from(table, since)[places], strict=True) if late]
    if not places:
        raise WardroundError(
            Reason.DATA_MISSING,
            f"{table.source}: no usable row{f' from {since} on' if since else ''}, so none to score",
        )
    rows = Rows(
        torch.from_numpy(encode(table.frame, settings.contract)),
        torch.from_numpy(table.outcome.astype(np.float32))[:, None],
        table.patients,
        table.row_ids,
        cohorts_of(table.frame, settings.contract),
    )
    own = open_site_data(settings, site).own_scale if settings.normalisation == "site" else None
    nothing = rows.take(np.empty(0, dtype=np.intp))
    by_split = {**dict.fromkeys(SPLITS, nothing), "test": rows.take(np.array(places, dtype=np.intp))}
    return ClinicalRiskData(settings, by_split, disclosure=disclosure, findings=table.findings, own_scale=own)


def _from(table: Table, since: date) -> np.ndarray:
    if table.index_dates is None:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"--since: {table.source} has no index date to go by; name its column as index_date in site.yaml, or name "
            "rows with --cases",
        )
    return (table.index_dates.dt.date() >= since).fill_null(False).to_numpy()
