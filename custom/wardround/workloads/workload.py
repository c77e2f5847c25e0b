"""What a workload is: the interface between learning and any one kind of patient data."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from wardround.metrics.intervals import paired_differences
from wardround.metrics.paired_change import PairedChange, mean_change
from wardround.records.disclosure import Disclosure
from wardround.records.inspection import Findings
from wardround.records.metric_record import MetricRecord
from wardround.records.reasons import Reason, WardroundError
from wardround.records.scores import CaseScore, Tally
from wardround.workloads.input_cells import InputColumn
from wardround.workloads.progress import Progress, unseen
from wardround.workloads.site_data import SiteData


@dataclass(frozen=True)
class Glance:
    """What can be told of a site's data without reading all of it: counts as `SiteData` gives them, and findings."""

    counts: dict[str, int]
    findings: Findings


class Workload(ABC):
    """Builds what a learner needs. Made from the study's `workload` section, which it validates."""

    calibration_metric: str | None = None
    """A record that is lower the better the probabilities are, watched beside the key metric; None without one."""

    has_reference = False
    """Whether `reference` gives a simple model to stand beside the network in every report."""

    conventions: tuple[str, ...] = ()
    """Public ways to lay out and label a case, so that `predict` can read one without a site.yaml."""

    @abstractmethod
    def network(self) -> nn.Module:
        """A fresh network; torch's global seed decides its initial values."""

    @abstractmethod
    def loss(self) -> nn.Module:
        """A module `loss(output, target) -> scalar`."""

    @abstractmethod
    def metric_names(self) -> tuple[str, ...]:
        """Names of the records that every validation reports."""

    def last_metric_names(self) -> tuple[str, ...]:
        """Names of the records that are too slow for every round, and reported after the last one; none by default."""
        return ()

    def compared_names(self) -> tuple[str, ...]:
        """Names of the records that `differences` gives; by default all."""
        return (*self.metric_names(), *self.last_metric_names())

    def head(self, network: nn.Module) -> tuple[str, ...]:  # noqa: ARG002
        """Names in `network.state_dict()` of the last layer, which a study may leave at each site.

        Raises:
            WardroundError: the network has no part of its own before the head, or the workload names none.
        """
        raise WardroundError(
            Reason.NOTHING_KEPT_LOCAL, "algorithm.kind local_head: this workload names no head; use another algorithm"
        )

    def initial_entries(self, statistics: Sequence[Tally]) -> dict[str, Tensor]:  # noqa: ARG002
        """Entries of the initial network that follow from `SiteData.statistics`, summed over the sites that train."""
        return {}

    def check_statistics(self, tallies: Sequence[Tally], counts: Mapping[str, int]) -> None:  # noqa: ARG002
        """Refuses what cannot be one site's `SiteData.statistics`, before it reaches the initial model.

        The sums come from another machine and may hold any finite numbers. By default none is expected.

        Args:
            tallies: of one site, those that its disclosure rules let through.
            counts: the same site's `SiteData.counts`.

        Raises:
            WardroundError: one line that names the tally and the difference, but not the site.
        """
        if tallies:
            raise WardroundError(
                Reason.COUNT_INVALID, f"statistics: {tallies[0].name} is a sum that this study does not ask for"
            )

    def reference(self, data: SiteData) -> nn.Module | None:  # noqa: ARG002
        """The workload's simple model fitted on the data's training cases; it takes and gives what the network does.

        None where the data does not allow one, such as training cases of one class.
        """
        return None

    def differences(self, ours: Sequence[CaseScore], theirs: Sequence[CaseScore], *, seed: int) -> list[MetricRecord]:
        """How much better one model is than another on the same cases, with paired 95 % intervals.

        Args:
            ours, theirs: what `SiteData.score` gave by case.
            seed: of the resampling.
        """
        return paired_differences(ours, theirs, seed=seed)

    def changes(
        self,
        names: Sequence[str],
        now: Sequence[CaseScore],
        before: Sequence[CaseScore],
        *,
        seed: int,  # noqa: ARG002 - for those that resample
    ) -> list[PairedChange]:
        """How far figures moved between two models on the same cases; those that rest on too few are left out.

        Args:
            names: of records.
            now, before: what `SiteData.score` gave by case.
            seed: of the resampling.
        """
        found = (mean_change(name, now, before) for name in names)
        return [change for change in found if change is not None]

    def input_columns(self) -> Sequence[InputColumn]:
        """What `SiteData.inputs` counts, in the same order; by default nothing."""
        return ()

    @abstractmethod
    def contract_digest(self) -> str:
        """SHA-256 of the data contract that all sites must share."""

    @abstractmethod
    def open_site(
        self,
        data: dict[str, Any],
        *,
        cache: Path,
        disclosure: Disclosure,
        where: str = "",
        progress: Progress = unseen,
        threads: int = 1,
    ) -> SiteData:
        """Reads a site's data.

        Args:
            data: the workload's section of site.yaml, paths in it absolute.
            cache: where prepared cases may be kept.
            disclosure: the site's rules, which scores by bin or cohort obey.
            where: the section's file and key, for messages; by default the workload's own key of site.yaml.
            progress: is told how far reading has come.
            threads: how many may read at once, where reading takes long; each takes memory of its own.
        """

    def glance(
        self,
        data: dict[str, Any],  # noqa: ARG002
        *,
        cache: Path,  # noqa: ARG002
        where: str = "",
        progress: Progress = unseen,  # noqa: ARG002
    ) -> Glance:
        """What headers alone tell, in a small part of the time; arguments as of `open_site`.

        Raises:
            WardroundError: the section does not fit, or this workload's data have no headers.
        """
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"{where or 'site.yaml'}: these data have no headers to look at first; leave --headers-only out",
        )

    def open_new(
        self,
        data: dict[str, Any],
        *,
        cache: Path,  # noqa: ARG002
        disclosure: Disclosure,  # noqa: ARG002
        where: str = "",
        progress: Progress = unseen,  # noqa: ARG002
        since: date | None = None,  # noqa: ARG002
        only: Sequence[str] = (),  # noqa: ARG002
    ) -> SiteData:
        """Reads a site's cases to watch a model by: all of those that are asked for are in the split `test`.

        Args:
            data, cache, disclosure, where, progress: as in `open_site`.
            since: the first index date.
            only: ids of patients or cases; by default all.

        Raises:
            WardroundError: no such case, or this workload has no dates.
        """
        raise WardroundError(Reason.CONFIGURATION_INVALID, f"{where or data}: this workload's models are not monitored")

    @abstractmethod
    def pool(self, sites: Sequence[SiteData]) -> SiteData:
        """All sites' training cases as one, for the pooled baseline on generated data."""

    def section_by_convention(self, case: Path, convention: str) -> dict[str, Any]:
        """What a site.yaml would say of a case that follows a public convention.

        Args:
            case: what is to be read, absolute.
            convention: one of `conventions`.
        """
        raise WardroundError(
            Reason.CONFIGURATION_INVALID, f"{case}: this workload knows no convention {convention}; give a site.yaml"
        )

    def predict(
        self,
        network: nn.Module,  # noqa: ARG002
        case: Path,  # noqa: ARG002
        file: Path,
        *,
        data: dict[str, Any],  # noqa: ARG002
        where: str = "",  # noqa: ARG002
    ) -> dict[str, float]:
        """Predicts one case at a site and writes the result.

        Args:
            network: complete and in evaluation mode.
            case: what to read.
            file: what to write.
            data: the workload's section of site.yaml, paths in it absolute.
            where: as in `open_site`.

        Returns:
            Figures of the prediction by name.
        """
        raise WardroundError(Reason.CONFIGURATION_INVALID, f"{file}: this workload predicts no single cases")

    def export_bundle(self, network: nn.Module, folder: Path, *, about: dict[str, Any]) -> None:  # noqa: ARG002
        """Writes a network as a MONAI bundle.

        Args:
            network: complete and in evaluation mode.
            folder: made if it is not there.
            about: what the model is, in plain values.
        """
        raise WardroundError(Reason.CONFIGURATION_INVALID, f"{folder}: this workload has no MONAI bundle")
