"""All sites' training rows in one place, for the pooled baseline."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from wardround.records.changed import changed
from wardround.records.reasons import Reason, WardroundError
from wardround.records.scores import Scores
from wardround.workloads.clinical_risk.rows import Rows
from wardround.workloads.clinical_risk.site_data import ClinicalRiskData
from wardround.workloads.site_data import SiteData


class PooledClinicalRiskData(ClinicalRiskData):
    """All sites' training rows as one, for the pooled baseline. It does not score: each site scores its own.

    Under `normalisation: site` each row stays normalised by its own site, as the rows on which each site then scores
    the model are.
    """

    def __init__(self, sites: Sequence[SiteData]) -> None:
        opened = [site for site in sites if isinstance(site, ClinicalRiskData)]
        if not opened or len(opened) < len(sites):
            raise WardroundError(Reason.CONFIGURATION_INVALID, "pooling needs sites, all opened by this workload")
        settings = opened[0].settings
        train = _joined([site.rows("train") for site in opened])
        nothing = train.take(np.empty(0, dtype=np.intp))
        super().__init__(
            changed(settings, normalisation="federated"),
            {"train": train, "validation": nothing, "test": nothing},
            findings=[finding for site in opened for finding in site.findings.warnings],
        )
        self.settings = settings

    def score(self, network: nn.Module, split: str, *, detail: bool = False) -> Scores:  # noqa: ARG002
        """Always raises: a pooled figure would hide which site it is about."""
        raise WardroundError(Reason.CONFIGURATION_INVALID, f"pooled data has no {split} split: score at each site")


def _joined(parts: Sequence[Rows]) -> Rows:
    """Rows of several sites as one. Two hospitals may use the same patient id; they are still two patients."""
    return Rows(
        torch.cat([part.inputs for part in parts]),
        torch.cat([part.targets for part in parts]),
        [f"{place}:{patient}" for place, part in enumerate(parts) for patient in part.patients],
        [f"{place}:{case}" for place, part in enumerate(parts) for case in part.cases],
        {name: [value for part in parts for value in part.cohorts[name]] for name in parts[0].cohorts},
    )
