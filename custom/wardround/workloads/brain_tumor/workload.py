"""Brain-tumor segmentation as a workload: the study's settings turned into network, loss, data and scores."""

import hashlib
import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any, get_args

from monai.networks.nets import UNet
from torch import nn

from wardround.records.changed import changed
from wardround.records.disclosure import DEFAULT_RULES, Disclosure
from wardround.records.metric_record import MetricRecord
from wardround.records.schema_faults import validated
from wardround.records.scores import CaseScore
from wardround.workloads.brain_tumor.glance import glance_at_site
from wardround.workloads.brain_tumor.inputs import input_columns
from wardround.workloads.brain_tumor.loss import DiceAndBinaryCrossEntropy
from wardround.workloads.brain_tumor.network import build_network, last_block
from wardround.workloads.brain_tumor.new_cases import open_new_cases
from wardround.workloads.brain_tumor.open_site import open_site_data
from wardround.workloads.brain_tumor.pooled import PooledSiteData
from wardround.workloads.brain_tumor.predict import predict_case
from wardround.workloads.brain_tumor.scoring import DETAIL_METRICS, VALIDATION_METRICS
from wardround.workloads.brain_tumor.settings import (
    REGIONS,
    BrainTumorSettings,
    BrainTumorSiteSettings,
    LabelConvention,
)
from wardround.workloads.brain_tumor.support import patients_behind
from wardround.workloads.input_cells import InputColumn
from wardround.workloads.progress import Progress, unseen
from wardround.workloads.site_data import SiteData
from wardround.workloads.workload import Glance, Workload


def make(settings: dict[str, Any]) -> "BrainTumorWorkload":
    """Builds the workload from job.yaml's `workload` section, `kind` left out.

    Raises:
        WardroundError: a key is unknown or a value does not fit, one line a fault.
    """
    return BrainTumorWorkload(validated(BrainTumorSettings, settings, "job.yaml: workload"))


class BrainTumorWorkload(Workload):
    """Segments tumor core, whole tumor and enhancing tumor on registered, skull-stripped MRI."""

    conventions = get_args(LabelConvention)

    def __init__(self, settings: BrainTumorSettings) -> None:
        self.settings = settings

    def network(self) -> nn.Module:
        """A fresh U-Net with one input channel a sequence of the contract."""
        return build_network(self.settings.network, channels_in=len(self.settings.contract.sequences))

    def loss(self) -> nn.Module:
        """Dice plus binary cross-entropy by region."""
        return DiceAndBinaryCrossEntropy()

    def metric_names(self) -> tuple[str, ...]:
        """Dice by region and its mean, and the false-positive volumes."""
        return VALIDATION_METRICS

    def last_metric_names(self) -> tuple[str, ...]:
        """Surface distances by region, and the BraTS challenge's own figures."""
        return DETAIL_METRICS

    def differences(self, ours: Sequence[CaseScore], theirs: Sequence[CaseScore], *, seed: int) -> list[MetricRecord]:
        """Paired differences. With those beside it, one gives away what its figure does with those beside that."""
        return [
            changed(record, support=min(record.support or 0, patients_behind(record.name, ours)))
            for record in super().differences(ours, theirs, seed=seed)
        ]

    def head(self, network: nn.Module) -> tuple[str, ...]:
        """The U-Net's last block of convolutions, which turns features into a logit a region."""
        assert isinstance(network, UNet)
        return last_block(network)

    def input_columns(self) -> Sequence[InputColumn]:
        """The contract's sequences."""
        return input_columns(self.settings.contract.sequences)

    def contract_digest(self) -> str:
        """SHA-256 of the image contract and the regions, whatever the order of keys in job.yaml."""
        contract = {"image": self.settings.contract.model_dump(mode="json"), "regions": REGIONS}
        return hashlib.sha256(json.dumps(contract, sort_keys=True, separators=(",", ":")).encode()).hexdigest()

    def open_site(
        self,
        data: dict[str, Any],
        *,
        cache: Path,
        disclosure: Disclosure = DEFAULT_RULES,  # noqa: ARG002 - no bins, no cohorts
        where: str = "",
        progress: Progress = unseen,
        threads: int = 1,
    ) -> SiteData:
        """Reads a hospital's images as its site.yaml describes them."""
        site = _site_settings(data, where)
        return open_site_data(self.settings, site, cache=cache, progress=progress, threads=threads)

    def glance(self, data: dict[str, Any], *, cache: Path, where: str = "", progress: Progress = unseen) -> Glance:
        """What the images' names and headers tell."""
        return glance_at_site(self.settings, _site_settings(data, where), cache=cache, progress=progress)

    def open_new(
        self,
        data: dict[str, Any],
        *,
        cache: Path,
        disclosure: Disclosure = DEFAULT_RULES,  # noqa: ARG002
        where: str = "",
        progress: Progress = unseen,
        since: date | None = None,
        only: Sequence[str] = (),
    ) -> SiteData:
        """Reads a hospital's labelled cases, or some of them; images carry no date."""
        site = _site_settings(data, where)
        return open_new_cases(self.settings, site, cache=cache, progress=progress, since=since, only=only)

    def pool(self, sites: Sequence[SiteData]) -> SiteData:
        """The union of the sites' training cases."""
        return PooledSiteData(list(sites))

    def section_by_convention(self, case: Path, convention: str) -> dict[str, Any]:
        """The case's own layout and labels; no more than the case is read, since predictions may lie beside it."""
        folder = case.parent if convention == "msd" else case
        return {"folder": folder, "layout": convention, "labels": convention}

    def predict(
        self, network: nn.Module, case: Path, file: Path, *, data: dict[str, Any], where: str = ""
    ) -> dict[str, float]:
        """Segments one case folder; gives each region's volume in milliliters."""
        return predict_case(network, case, file, self.settings, _site_settings(data, where))

    def export_bundle(self, network: nn.Module, folder: Path, *, about: dict[str, Any]) -> None:
        """A bundle that prepares images, predicts and maps back as this workload does."""
        from wardround.workloads.brain_tumor.bundle import write_bundle  # loads all of MONAI, which training need not

        write_bundle(network, self.settings, folder, about=about)


def _site_settings(data: dict[str, Any], where: str = "") -> BrainTumorSiteSettings:
    return validated(BrainTumorSiteSettings, data, where or "site.yaml: data.brain_tumor")
