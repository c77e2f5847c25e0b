"""A hospital's brain-tumor cases: what they are trained on and scored by."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from wardround.records.faults import fault
from wardround.records.illustrations import Illustrations
from wardround.records.inspection import Finding, Findings, Severity
from wardround.records.reasons import Reason, WardroundError
from wardround.records.scores import Scores
from wardround.workloads.brain_tumor.augment import plain_batch
from wardround.workloads.brain_tumor.batches import training_batches
from wardround.workloads.brain_tumor.inputs import shares_by_patient
from wardround.workloads.brain_tumor.layouts import CaseFiles
from wardround.workloads.brain_tumor.prepared import PreparedCase
from wardround.workloads.brain_tumor.scoring import score_cases
from wardround.workloads.brain_tumor.settings import BrainTumorSettings, LabelConvention
from wardround.workloads.input_cells import InputColumn
from wardround.workloads.site_data import Batch, SiteData
from wardround.workloads.split import SPLITS

UNLABELLED_CROPS = 8  # crops of each volume in one pass: BatchNorm statistics settle within some dozens of crops


class BrainTumorSiteData(SiteData):
    """Cases of one site.

    Args:
        settings: the study's.
        cases: labelled cases by split.
        unlabelled: training volumes that have no label.
        findings: what finding and preparing the cases told.
        unlisted: patients that the site's explicit lists leave out.
        left_out: how many cases cannot be used.
        left_out_files: the files of those that have all of them, to be shown to the site's admin.
        labels: the site's convention, to show these.
    """

    def __init__(
        self,
        settings: BrainTumorSettings,
        cases: dict[str, list[PreparedCase]],
        *,
        unlabelled: Sequence[PreparedCase] = (),
        findings: Sequence[Finding] = (),
        unlisted: int = 0,
        left_out: int = 0,
        left_out_files: Sequence[CaseFiles] = (),
        labels: LabelConvention = "brats2023",
    ) -> None:
        self.settings = settings
        self.unlabelled_cases = list(unlabelled)
        self._cases = {split: list(cases.get(split, ())) for split in SPLITS}
        self._findings = list(findings)
        self._unlisted = unlisted
        self._left_out = left_out
        self._left_out_files = left_out_files
        self._labels = labels

    def cases(self, split: str) -> Sequence[PreparedCase]:
        """The labelled cases of `train`, `validation` or `test`."""
        return self._cases[split]

    @property
    def counts(self) -> dict[str, int]:
        """Patients and cases by split, cases without a label or with a missing sequence, files left out."""
        counts: dict[str, int] = {}
        for split, cases in self._cases.items():
            counts[f"{split}_patients"] = len({case.patient for case in cases})
            counts[f"{split}_cases"] = len(cases)
        used = [case for cases in self._cases.values() for case in cases] + self.unlabelled_cases
        counts["unlabelled_cases"] = len(self.unlabelled_cases)
        counts["unlisted_patients"] = self._unlisted
        counts["cases_with_missing_sequence"] = sum(bool(case.missing) for case in used)
        counts["left_out"] = self._left_out
        return counts

    @property
    def findings(self) -> Findings:
        """A warning for each case left out or doubtful, an error where no label of a split marks a tumor.

        Nothing can be learned from such a split, or no figure is defined on it.
        """
        return Findings([*self._findings, *self._without_tumor()])

    def illustrate(self) -> Illustrations:
        """A slice of each sequence of a few cases, cases with findings first."""
        from wardround.workloads.brain_tumor.slices import draw_examples  # loads matplotlib

        drawn = draw_examples(self._cases, self._left_out_files, self.findings, self.settings.contract, self._labels)
        return Illustrations(pictures=drawn)

    def inputs(self, *splits: str) -> Iterator[tuple[InputColumn, NDArray[np.float64]]]:
        """Shares of each case's voxels by intensity, sequence by sequence."""
        cases = [case for split in splits for case in self._cases[split]]
        yield from shares_by_patient(cases, self.settings.contract.sequences)

    def steps_per_epoch(self, batch_size: int) -> int:
        """Batches that visit each training case once."""
        return -(-len(self._training_cases()) // batch_size)

    def batches(self, batch_size: int, generator: torch.Generator) -> Iterator[Batch]:
        """Endless augmented crops, a function of the generator's seed alone."""
        cases = self._training_cases()
        yield from training_batches(cases, self.settings.patch, self.settings.augmentation, batch_size, generator)

    def unlabelled(self, batch_size: int, generator: torch.Generator) -> Iterator[Tensor]:
        """Crops of images, labels left alone: `UNLABELLED_CROPS` of each volume.

        Of the train split and of cases without a label; of all cases where a site has neither, as an outside hospital
        whose cases are all for testing: it sees how its scanner images look, and nothing of what is asked for.
        """
        volumes = self._unscored() or [case for cases in self._cases.values() for case in cases]
        if not volumes:
            raise WardroundError(Reason.TOO_FEW_CASES, "no volume to re-measure statistics on; see `split`")
        for _ in range(UNLABELLED_CROPS):
            order = torch.randperm(len(volumes), generator=generator).tolist()
            for first in range(0, len(order), batch_size):
                chosen = [volumes[index] for index in order[first : first + batch_size]]
                yield plain_batch(chosen, self.settings.patch.size, generator)

    @property
    def has_unlabelled(self) -> bool:
        """Whether there are images that no score is about."""
        return bool(self._unscored())

    def score(self, network: nn.Module, split: str, *, detail: bool = False) -> Scores:
        """Scores a network on the cases of `validation` or `test`; without a case, every figure is undefined."""
        return score_cases(network, self._cases[split], split, self.settings, detail=detail)

    def recalibrate(self, network: nn.Module) -> nn.Module | None:
        """One slope and offset a region, fitted on validation voxels; None where that helps nowhere."""
        from wardround.workloads.brain_tumor.recalibrate import recalibrate  # loads scikit-learn, which few runs need

        return recalibrate(network, self._cases["validation"], self.settings)

    def draw(self, network: nn.Module, split: str, folder: Path, *, count: int = 1) -> list[Path]:
        """Sequences, label and prediction of `count` cases of a split, as PNG files."""
        from wardround.workloads.brain_tumor.pictures import draw_cases

        return draw_cases(network, self._cases[split], self.settings, folder, count=count)

    def _cases_by_split(self) -> Iterator[tuple[str, str, str]]:
        for split, cases in {**self._cases, "unlabelled": self.unlabelled_cases}.items():
            yield from ((split, case.patient, case.case) for case in cases)

    def _without_tumor(self) -> list[Finding]:
        return [
            Finding.of(
                Severity.ERROR,
                Reason.MASK_INVALID,
                fault(
                    f"{split}: all of its {len(cases)} labels are empty, so there is no tumor to find",
                    expected="a tumor in one label at least",
                    advice="check what the annotators exported",
                ),
            )
            for split, cases in self._cases.items()
            if cases and not any(len(case.foreground) for case in cases)
        ]

    def _unscored(self) -> list[PreparedCase]:
        return [*self._cases["train"], *self.unlabelled_cases]

    def _training_cases(self) -> list[PreparedCase]:
        if not self._cases["train"]:
            raise WardroundError(Reason.TOO_FEW_CASES, "the train split has no labelled case; see `split`")
        return self._cases["train"]
