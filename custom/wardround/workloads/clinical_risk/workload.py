"""Clinical risk from tables as a workload: the study's settings turned into network, loss, data and scores."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from wardround.metrics.paired_change import PairedChange
from wardround.records.disclosure import DEFAULT_RULES, Disclosure
from wardround.records.faults import fault
from wardround.records.metric_record import MetricRecord
from wardround.records.reasons import Reason, WardroundError
from wardround.records.schema_faults import validated
from wardround.records.scores import CaseScore, Tally
from wardround.records.yaml_text import read_settings
from wardround.workloads.clinical_risk.changes import row_changes
from wardround.workloads.clinical_risk.check_sums import check_sums
from wardround.workloads.clinical_risk.contract import Contract, contract_digest
from wardround.workloads.clinical_risk.encode import input_names
from wardround.workloads.clinical_risk.inputs import input_columns
from wardround.workloads.clinical_risk.network import HEAD, RiskMLP
from wardround.workloads.clinical_risk.new_rows import open_new_rows
from wardround.workloads.clinical_risk.open_site import open_site_data
from wardround.workloads.clinical_risk.pooled import PooledClinicalRiskData
from wardround.workloads.clinical_risk.predict import predict_table
from wardround.workloads.clinical_risk.reference import fit_reference
from wardround.workloads.clinical_risk.scoring import (
    DETAIL_METRICS,
    DIFFERENCES,
    VALIDATION_METRICS,
    row_differences,
)
from wardround.workloads.clinical_risk.settings import ClinicalRiskSettings, ClinicalRiskSiteSettings
from wardround.workloads.clinical_risk.site_data import ClinicalRiskData
from wardround.workloads.clinical_risk.statistics import mean_and_scale, tally_names
from wardround.workloads.input_cells import InputColumn
from wardround.workloads.progress import Progress, unseen
from wardround.workloads.site_data import SiteData
from wardround.workloads.workload import Workload


def make(settings: dict[str, Any]) -> "ClinicalRiskWorkload":
    """Builds the workload from job.yaml's `workload` section, `kind` left out.

    Raises:
        WardroundError: a key is unknown or a value does not fit, one line a fault.
    """
    if isinstance(settings.get("contract"), dict):  # it stands in a file of its own, so its faults are told under that
        validated(Contract, settings["contract"], "contract.yaml")
    checked = validated(ClinicalRiskSettings, settings, "job.yaml: workload")
    split = checked.split
    if split.validation_fraction + split.test_fraction >= 1:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"job.yaml: workload.split: validation_fraction {split.validation_fraction} and test_fraction "
            f"{split.test_fraction} leave nothing to train on; their sum must be below 1",
        )
    return ClinicalRiskWorkload(checked)


class ClinicalRiskWorkload(Workload):
    """Predicts the probability of an outcome from what is known of a patient at an index date."""

    calibration_metric = "brier"
    has_reference = True

    def __init__(self, settings: ClinicalRiskSettings) -> None:
        self.settings = settings

    def network(self) -> RiskMLP:
        """A fresh multi-layer perceptron; its inputs are standardised as if no site had sent a sum."""
        network = RiskMLP(len(input_names(self.settings.contract)), self.settings.network)
        entries = self.initial_entries([])
        if entries:
            network.load_state_dict(entries, strict=False)
        return network

    def loss(self) -> nn.Module:
        """Binary cross-entropy of the logits."""
        return nn.BCEWithLogitsLoss()

    def metric_names(self) -> tuple[str, ...]:
        """Ranking and probabilities' quality."""
        return VALIDATION_METRICS

    def last_metric_names(self) -> tuple[str, ...]:
        """Calibration, and the Brier score's parts."""
        return DETAIL_METRICS

    def compared_names(self) -> tuple[str, ...]:
        """The validation metrics and accuracy."""
        return DIFFERENCES

    def head(self, network: nn.Module) -> tuple[str, ...]:
        """The last linear layer's weight and bias."""
        if not self.settings.network.hidden:
            raise WardroundError(
                Reason.NOTHING_KEPT_LOCAL,
                "algorithm.kind local_head: with workload.network.hidden [] the head is the whole network, and nothing "
                "would be shared; give hidden layers, or use another algorithm",
            )
        return tuple(name for name in network.state_dict() if name.startswith(f"{HEAD}."))

    def initial_entries(self, statistics: Sequence[Tally]) -> dict[str, Tensor]:
        """Mean and scale of the network's inputs, from the sums of all sites; none under `normalisation: site`."""
        if self.settings.normalisation == "site":
            return {}
        mean, scale = mean_and_scale(statistics, self.settings.contract)
        return {"standardise.mean": mean, "standardise.scale": scale}

    def check_statistics(self, tallies: Sequence[Tally], counts: Mapping[str, int]) -> None:
        """Sums of the contract's number columns that its training rows can have; none under `normalisation: site`."""
        names = [] if self.settings.normalisation == "site" else tally_names(self.settings.contract)
        check_sums(tallies, counts, names)

    def reference(self, data: SiteData) -> nn.Module | None:
        """Logistic regression on the data's training rows."""
        if not isinstance(data, ClinicalRiskData):
            raise WardroundError(Reason.CONFIGURATION_INVALID, "reference: needs data opened by this workload")
        network = self.network()
        mean, scale = network.standardise.mean, network.standardise.scale
        if self.settings.normalisation == "federated":
            mean, scale = mean_and_scale(data.sums(), self.settings.contract)
        return fit_reference(data.rows("train"), mean, scale)

    def differences(self, ours: Sequence[CaseScore], theirs: Sequence[CaseScore], *, seed: int) -> list[MetricRecord]:
        """Differences of the validation metrics and of accuracy, with intervals by patient."""
        return row_differences(ours, theirs, seed=seed)

    def changes(
        self, names: Sequence[str], now: Sequence[CaseScore], before: Sequence[CaseScore], *, seed: int
    ) -> list[PairedChange]:
        """Differences of figures over rows, with standard errors by patient."""
        return row_changes(names, now, before, seed=seed)

    def input_columns(self) -> Sequence[InputColumn]:
        """The contract's columns."""
        return input_columns(self.settings.contract)

    def contract_digest(self) -> str:
        """SHA-256 of the contract and of how inputs are normalised."""
        own = f"{contract_digest(self.settings.contract)}:{self.settings.normalisation}"
        return hashlib.sha256(own.encode()).hexdigest()

    def open_site(
        self,
        data: dict[str, Any],
        *,
        cache: Path,  # noqa: ARG002 - a table is read faster than a cache of it
        disclosure: Disclosure = DEFAULT_RULES,
        where: str = "",
        progress: Progress = unseen,
        threads: int = 1,  # noqa: ARG002 - it takes seconds
    ) -> SiteData:
        """Reads a hospital's table as its site.yaml describes it.

        Raises:
            WardroundError: the section or the table does not fit, or the hospital agreed to another contract.
        """
        site = _site_settings(data, where)
        _refuse_other_contract(site, self.settings.contract)
        return open_site_data(self.settings, site, disclosure=disclosure, progress=progress)

    def open_new(
        self,
        data: dict[str, Any],
        *,
        cache: Path,  # noqa: ARG002
        disclosure: Disclosure = DEFAULT_RULES,
        where: str = "",
        progress: Progress = unseen,
        since: date | None = None,
        only: Sequence[str] = (),
    ) -> SiteData:
        """Reads the rows of a hospital's table from a date on, or of some patients."""
        site = _site_settings(data, where)
        _refuse_other_contract(site, self.settings.contract)
        return open_new_rows(self.settings, site, disclosure=disclosure, progress=progress, since=since, only=only)

    def pool(self, sites: Sequence[SiteData]) -> SiteData:
        """The union of the sites' training rows."""
        return PooledClinicalRiskData(list(sites))

    def predict(
        self, network: nn.Module, case: Path, file: Path, *, data: dict[str, Any], where: str = ""
    ) -> dict[str, float]:
        """Writes the risk of each row of a table; gives how many there are and their mean."""
        return predict_table(network, case, file, self.settings, _site_settings(data, where))


def _site_settings(data: dict[str, Any], where: str) -> ClinicalRiskSiteSettings:
    return validated(ClinicalRiskSiteSettings, data, where or "site.yaml: data.clinical_risk")


def _refuse_other_contract(site: ClinicalRiskSiteSettings, contract: Contract) -> None:
    if site.contract_file is None:
        return
    own = validated(
        Contract, read_settings(site.contract_file, expected="the contract of the study"), str(site.contract_file)
    )
    if contract_digest(own) != contract_digest(contract):
        raise WardroundError(
            Reason.CONTRACT_MISMATCH,
            fault(
                f"is another contract than the study's (this hospital agreed to {contract_digest(own)[:12]}, the study "
                f"has {contract_digest(contract)[:12]})",
                file=site.contract_file,
                advice="compare it with the study's contract.yaml, and agree before taking part",
            ),
        )
