"""From a hospital's table to its rows in memory: read, encoded, split by patient."""

import logging
import time

import numpy as np
import torch

from wardround.records.disclosure import DEFAULT_RULES, Disclosure
from wardround.workloads.clinical_risk.cohorts import cohorts_of
from wardround.workloads.clinical_risk.encode import encode, input_names
from wardround.workloads.clinical_risk.rows import Rows
from wardround.workloads.clinical_risk.settings import ClinicalRiskSettings, ClinicalRiskSiteSettings
from wardround.workloads.clinical_risk.site_data import ClinicalRiskData
from wardround.workloads.clinical_risk.split import split_rows
from wardround.workloads.clinical_risk.split_rule import idle_fractions, site_rule
from wardround.workloads.clinical_risk.table import read_table
from wardround.workloads.progress import Progress, unseen
from wardround.workloads.split import SPLITS

_log = logging.getLogger(__name__)


def open_site_data(
    settings: ClinicalRiskSettings,
    site: ClinicalRiskSiteSettings,
    *,
    disclosure: Disclosure = DEFAULT_RULES,
    progress: Progress = unseen,
) -> ClinicalRiskData:
    """Reads, encodes and splits a site's table.

    Raises:
        WardroundError: the table cannot be read, breaks the contract, or has no row left.
    """
    started = time.monotonic()
    table = read_table(settings.contract, site, progress=progress)
    places, unsplit = split_rows(table, site_rule(settings.split, site))
    rows = Rows(
        torch.from_numpy(encode(table.frame, settings.contract)),
        torch.from_numpy(table.outcome.astype(np.float32))[:, None],
        table.patients,
        table.row_ids,
        cohorts_of(table.frame, settings.contract),
    )
    data = ClinicalRiskData(
        settings,
        {split: rows.take(places[split]) for split in SPLITS},
        disclosure=disclosure,
        findings=[*table.findings, *unsplit, *idle_fractions(site, table.given_split)],
    )
    counts = ", ".join(f"{name} {count}" for name, count in data.counts.items() if count)
    inputs = len(input_names(settings.contract))
    _log.info("table: ready after %.1f s: %d inputs, %s", time.monotonic() - started, inputs, counts)
    return data
