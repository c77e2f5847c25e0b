"""All hospitals' brain-tumor cases as one, for the pooled baseline."""

from collections.abc import Sequence

from torch import nn

from wardround.records.reasons import Reason, WardroundError
from wardround.records.scores import Scores
from wardround.workloads.brain_tumor.site_data import BrainTumorSiteData
from wardround.workloads.site_data import SiteData


class PooledSiteData(BrainTumorSiteData):
    """All sites' training cases as one, for the pooled baseline. It does not score: each site scores its own."""

    def __init__(self, sites: Sequence[SiteData]) -> None:
        opened = [site for site in sites if isinstance(site, BrainTumorSiteData)]
        if not opened or len(opened) < len(sites):
            raise WardroundError(Reason.CONFIGURATION_INVALID, "pooling needs sites, all opened by this workload")
        super().__init__(
            opened[0].settings,
            {"train": [case for site in opened for case in site.cases("train")]},
            unlabelled=[case for site in opened for case in site.unlabelled_cases],
            findings=[finding for site in opened for finding in site.findings.warnings],
            left_out=sum(site.counts["left_out"] for site in opened),
        )
        # Two hospitals may use the same patient id; they are still two patients.
        self._patients = sum(site.counts["train_patients"] for site in opened)

    @property
    def counts(self) -> dict[str, int]:
        """As for one site, with patients counted by site."""
        return super().counts | {"train_patients": self._patients}

    def score(self, network: nn.Module, split: str, *, detail: bool = False) -> Scores:  # noqa: ARG002
        """Always raises: a pooled figure would hide which site it is about."""
        raise WardroundError(Reason.CONFIGURATION_INVALID, f"pooled data has no {split} split: score at each site")
