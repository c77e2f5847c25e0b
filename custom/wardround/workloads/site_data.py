"""What learning asks of one site's cases, whatever kind of patient data they are."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from wardround.records.illustrations import Illustrations
from wardround.records.inspection import Findings
from wardround.records.scores import Scores, Tally
from wardround.workloads.input_cells import InputColumn

Batch = tuple[Tensor, Tensor]


class SiteData(ABC):
    """One site's cases, ready to train on and to score. Case names never leave this object but for `Scores.cases`."""

    @property
    @abstractmethod
    def counts(self) -> dict[str, int]:
        """Patients and cases by split: `train_patients`, `train_cases`, `validation_cases`, `test_cases`, ..."""

    @cached_property
    def cases_sha256(self) -> str:
        """Of which cases of which patients are in which split, by which a site knows its own cases again.

        SHA-256 over the sorted triples of `_cases_by_split`, each as a line of JSON.
        """
        digest = hashlib.sha256()
        for triple in sorted(self._cases_by_split()):
            digest.update(json.dumps(triple).encode() + b"\n")
        return digest.hexdigest()

    @abstractmethod
    def _cases_by_split(self) -> Iterator[tuple[str, str, str]]:
        """Split, patient and case of each case that is trained on or scored, in any order."""

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
