"""What a workload is: the interface between learning and any one kind of patient data."""

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from wardround import workloads
from wardround.metrics.intervals import paired_differences
from wardround.metrics.paired_change import PairedChange, mean_change
from wardround.records.acceptance import check_acceptance
from wardround.records.disclosure import Disclosure
from wardround.records.illustrations import Illustrations
from wardround.records.inspection import Findings
from wardround.records.metric_record import MetricRecord
from wardround.records.reasons import Reason, WardroundError
from wardround.records.scores import CaseScore, Scores, Tally
from wardround.records.study import Study
from wardround.workloads.direction import check_direction
from wardround.workloads.input_cells import InputColumn
from wardround.workloads.progress import Progress, unseen

Batch = tuple[Tensor, Tensor]


class SiteData(ABC):
    """One site's cases, ready to train on and to score. Case names never leave this object but for `Scores.cases`."""

    @property
    @abstractmethod
    def counts(self) -> dict[str, int]:
        """Patients and cases by split: `train_patients`, `train_cases`, `validation_cases`, `test_cases`, ..."""

    @property
    def suppressed_counts(self) -> list[str]:
        """Names of counts that `counts` lacks, since the site's disclosure rules hold them back; none by default."""
        return []

    @property
    @abstractmethod
    def findings(self) -> Findings:
        """What there is to tell of the data.

        An error makes no sense to train or score on until somebody has settled it. Of a warning, something is left
        out, and the rest is usable. A note is what an admin should know, such as a column without a value.
        """

    def illustrate(self) -> Illustrations:
        """Charts and pictures of the data for the site's own eyes; none by default."""
        return Illustrations()

    def statistics(self) -> list[Tally]:
        """Sums over training cases that the study's initial model needs, see `Workload.initial_entries`."""
        return []

    def inputs(self, *splits: str) -> Iterator[tuple[InputColumn, NDArray[np.float64]]]:  # noqa: ARG002
        """Rows or shares of cases by patient and position of each input, [patients, positions]; none by default."""
        yield from ()

    @abstractmethod
    def steps_per_epoch(self, batch_size: int) -> int:
        """Batches that visit each training case once."""

    @abstractmethod
    def batches(self, batch_size: int, generator: torch.Generator) -> Iterator[Batch]:
        """Endless augmented training batches (input, target) on the CPU, a function of the generator's seed alone."""

    @abstractmethod
    def unlabelled(self, batch_size: int, generator: torch.Generator) -> Iterator[Tensor]:
        """Finite pass of inputs in the training batches' geometry, without augmentation or labels."""

    @property
    def has_unlabelled(self) -> bool:
        """False where `unlabelled` has nothing but the images of the scored cases: a remark goes with such a score."""
        return True

    @abstractmethod
    def score(self, network: nn.Module, split: str, *, detail: bool = False) -> Scores:
        """Scores a network on `validation` or `test`; `detail` adds what is too slow for every round."""

    def recalibrate(self, network: nn.Module) -> nn.Module | None:  # noqa: ARG002
        """The network with its probabilities corrected, fitted and chosen on validation cases alone.

        Takes the same inputs and gives logits of the same shape. None where no correction is better than none: by
        cross-validation over the validation cases' patients, since a fit always looks good on what it was fitted to.
        """
        return None

    def draw(self, network: nn.Module, split: str, folder: Path, *, count: int = 1) -> list[Path]:  # noqa: ARG002
        """Pictures of `count` cases with their predictions, as PNG files in the site's own folder; none by default."""
        return []


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


def kinds() -> list[str]:
    """Names of the workloads that are installed."""
    return sorted(module.name for module in pkgutil.iter_modules(workloads.__path__) if module.ispkg)


def make_workload(study: Study) -> Workload:
    """Builds the study's workload; see `workload_of`.

    Raises:
        WardroundError: also where `key_metric_mode` is the wrong one for the key metric, or an acceptance criterion is
            about a figure that the workload does not report.
    """
    workload = workload_of(study.workload)
    reported = (*workload.metric_names(), *workload.last_metric_names())
    check_acceptance(study.acceptance, reported, workload.compared_names())
    if study.evaluation.key_metric in workload.metric_names():  # another one is refused by check_key_metric, as such
        check_direction(study)
    return workload


def workload_of(settings: Mapping[str, Any]) -> Workload:
    """Builds a workload from a `workload` section, as job.yaml has it and a checkpoint keeps it.

    Raises:
        WardroundError: the kind is not installed, needs a missing package, or its settings are invalid.
    """
    settings = dict(settings)
    kind = settings.pop("kind")
    if kind not in kinds():
        raise WardroundError(
            Reason.CONFIGURATION_INVALID, f"workload.kind: {kind!r} is not installed; installed: {', '.join(kinds())}"
        )
    try:
        module = importlib.import_module(f"wardround.workloads.{kind}.workload")
    except ModuleNotFoundError as error:
        raise WardroundError(
            Reason.MODULE_MISSING, f"workload {kind} needs the package {error.name}; install wardround with its extra"
        ) from error
    workload: Workload = module.make(settings)
    return workload
