"""A hospital's rows in memory: what it trains on, and how a network does on them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from wardround.metrics.support import FEWEST_OF_A_CLASS
from wardround.records.disclosure import DEFAULT_RULES, Disclosure
from wardround.records.faults import fault
from wardround.records.illustrations import Illustrations
from wardround.records.inspection import Finding, Findings, Severity
from wardround.records.reasons import Reason, WardroundError
from wardround.records.scores import Scores, Tally
from wardround.workloads.clinical_risk.distributions import distributions
from wardround.workloads.clinical_risk.inference import predict_logits, probabilities_of
from wardround.workloads.clinical_risk.inputs import counts_by_patient
from wardround.workloads.clinical_risk.recalibrate import recalibrated
from wardround.workloads.clinical_risk.rows import Rows, one_pass, training_batches
from wardround.workloads.clinical_risk.scoring import ScoredRows, choose_thresholds, score_rows
from wardround.workloads.clinical_risk.settings import ClinicalRiskSettings
from wardround.workloads.clinical_risk.statistics import column_sums, own_mean_and_scale
from wardround.workloads.input_cells import InputColumn
from wardround.workloads.site_data import Batch, SiteData

_OF_SCORED_ROWS = (
    "normalisation by site: no training row, so the mean and scale of the inputs are of the rows that are scored; "
    "their outcomes have no part in it"
)


class ClinicalRiskData(SiteData):
    """Rows of one site.

    Args:
        settings: the study's.
        rows: by split, encoded and not standardised.
        disclosure: the site's rules.
        findings: what reading and splitting the table told.
        own_scale: mean and scale under `normalisation: site`; by default those of these rows.
    """

    def __init__(
        self,
        settings: ClinicalRiskSettings,
        rows: Mapping[str, Rows],
        *,
        disclosure: Disclosure = DEFAULT_RULES,
        findings: Sequence[Finding] = (),
        own_scale: tuple[Tensor, Tensor] | None = None,
    ) -> None:
        self.settings = settings
        self.disclosure = disclosure
        self._findings = list(findings)
        self._sums = column_sums(rows["train"], settings.contract)
        self._encoded = dict(rows)
        self._rows = dict(rows)
        self.own_scale: tuple[Tensor, Tensor] | None = None  # by which the rows are standardised, if by the site's own
        if settings.normalisation == "site":
            self.own_scale = own_scale or own_mean_and_scale(rows, settings.contract)
            self._rows = _standardised(self._rows, *self.own_scale)

    def rows(self, split: str) -> Rows:
        """The rows of `train`, `validation` or `test`."""
        return self._rows[split]

    @property
    def counts(self) -> dict[str, int]:
        """Patients, rows and positive rows by split, and values and rows left out.

        Of the rows that are scored the positive ones are told, however few: without them no figure can be judged, and
        each carries them. Those of the training rows are told where neither class is of fewer patients than the site's
        minimum cell; see `suppressed_counts`.
        """
        counts: dict[str, int] = {}
        for split, rows in self._rows.items():
            counts[f"{split}_patients"] = len(set(rows.patients))
            counts[f"{split}_cases"] = len(rows)
            if f"{split}_positive" not in self.suppressed_counts:
                counts[f"{split}_positive"] = rows.positive
        counts["left_out"] = sum(finding.count for finding in self.findings.warnings)
        return counts

    @property
    def suppressed_counts(self) -> list[str]:
        """That of the training rows with the outcome, where either class is of fewer patients than the minimum cell."""
        rows = self._rows["train"]
        fewest = min(rows.patients_with(label) for label in (0, 1))
        return ["train_positive"] if fewest < self.disclosure.minimum_cell else []

    @property
    def findings(self) -> Findings:
        """Of the table, of the split, of whose rows normalise, and training labels of one class."""
        return Findings([*self._findings, *self._of_training_rows(), *self._of_scored_rows()])

    def illustrate(self) -> Illustrations:
        """The outcome and each column by split, in the contract's own units."""
        rows = self._rows
        if self.own_scale is not None:
            mean, scale = self.own_scale
            rows = {split: replace(part, inputs=part.inputs * scale + mean) for split, part in rows.items()}
        return Illustrations(distributions=distributions(rows, self.settings.contract))

    def statistics(self) -> list[Tally]:
        """Sums of each number column over training rows; none where the study normalises by site.

        What few patients stand behind is for whoever lets them leave the hospital to hold back.
        """
        return [] if self.settings.normalisation == "site" else self.sums()

    def sums(self) -> list[Tally]:
        """The same sums whatever the study's normalisation, for what stays at the site."""
        return list(self._sums)

    def inputs(self, *splits: str) -> Iterator[tuple[InputColumn, NDArray[np.float64]]]:
        """Rows by patient and position of each column of the contract."""
        yield from counts_by_patient([self._encoded[split] for split in splits], self.settings.contract)

    def steps_per_epoch(self, batch_size: int) -> int:
        """Batches that visit each training row once."""
        return -(-len(self._training_rows()) // batch_size)

    def batches(self, batch_size: int, generator: torch.Generator) -> Iterator[Batch]:
        """Endless shuffled rows: inputs [batch, inputs] and outcomes [batch, 1]."""
        return training_batches(self._training_rows(), batch_size, generator, fewest=self._fewest)

    def unlabelled(self, batch_size: int, generator: torch.Generator) -> Iterator[Tensor]:
        """Inputs of the training rows, or of all rows where a site only scores; outcomes are left alone."""
        rows = [self._rows["train"]] if self.has_unlabelled else list(self._rows.values())
        inputs = torch.cat([part.inputs for part in rows])
        if not len(inputs):
            raise WardroundError(Reason.TOO_FEW_CASES, "no row to re-measure statistics on; see `split`")
        yield from one_pass(inputs, batch_size, generator, fewest=self._fewest)

    @property
    def has_unlabelled(self) -> bool:
        """Whether there are rows that no score is about."""
        return len(self._rows["train"]) > 0

    def score(self, network: nn.Module, split: str, *, detail: bool = False) -> Scores:
        """Scores a network on the rows of `validation` or `test`.

        Alert thresholds are chosen on validation rows, and told with the details of the test rows.

        Raises:
            WardroundError: the network gives probabilities that are not finite.
        """
        rows = self._rows[split]
        thresholds = []
        if detail and split == "test":
            chosen_on = self._rows["validation"]
            probabilities = probabilities_of(network, chosen_on.inputs)
            thresholds = choose_thresholds(probabilities, _labels(chosen_on), chosen_on.patients, self.settings.alerts)
        scored = ScoredRows(
            probabilities=probabilities_of(network, rows.inputs),
            labels=_labels(rows),
            patients=rows.patients,
            cases=rows.cases,
            cohorts=rows.cohorts,
        )
        return score_rows(
            scored, split=split, detail=detail, minimum_cell=self.disclosure.minimum_cell, thresholds=thresholds
        )

    def recalibrate(self, network: nn.Module) -> nn.Module | None:
        """The network with its probabilities corrected where cross-validation on validation rows says it helps."""
        rows = self._rows["validation"]
        return recalibrated(network, predict_logits(network, rows.inputs), _labels(rows), rows.patients)

    def _cases_by_split(self) -> Iterator[tuple[str, str, str]]:
        for split, rows in self._rows.items():
            yield from ((split, patient, case) for patient, case in zip(rows.patients, rows.cases, strict=True))

    def _of_training_rows(self) -> list[Finding]:
        rows = self._rows["train"]
        if not len(rows) and self.own_scale is not None:
            return [Finding.of(Severity.NOTE, Reason.TOO_FEW_CASES, _OF_SCORED_ROWS)]
        if len(rows.targets.unique()) != 1:
            return []
        outcome = self.settings.contract.outcome
        only = outcome.positive if rows.positive else outcome.negative
        told = fault(
            f"train: {outcome.name} is {only} in all {len(rows)} rows",
            advice="the site trains and contributes, but nothing here can be ranked or calibrated by its own rows "
            "alone",
        )
        return [Finding.of(Severity.NOTE, Reason.ONE_CLASS, told)]

    def _of_scored_rows(self) -> list[Finding]:
        """Splits in which too few patients have the outcome, or do not, for a figure to be sure."""
        outcome = self.settings.contract.outcome
        named = {1: outcome.positive, 0: outcome.negative}
        fewest = {
            (split, label): self._rows[split].patients_with(label)
            for split in ("validation", "test")
            for label in named
            if len(self._rows[split])
        }
        return [
            Finding.of(
                Severity.NOTE,
                Reason.TOO_FEW_CASES if count else Reason.ONE_CLASS,
                fault(
                    f"{split}: {count} patients with {outcome.name} {named[label]}",
                    expected=f"{FEWEST_OF_A_CLASS} at least",
                    advice="its figures are marked as of low support" if count else "nothing can be ranked there",
                    count=0,
                ),
            )
            for (split, label), count in fewest.items()
            if count < FEWEST_OF_A_CLASS
        ]

    @property
    def _fewest(self) -> int:
        """Rows that a training batch needs: BatchNorm has no variance over one."""
        return 2 if self.settings.network.hidden and self.settings.network.norm == "batch" else 1

    def _training_rows(self) -> Rows:
        if not len(self._rows["train"]):
            raise WardroundError(Reason.TOO_FEW_CASES, "the train split has no labelled row; see `split`")
        return self._rows["train"]


def _labels(rows: Rows) -> NDArray[np.uint8]:
    return rows.targets[:, 0].numpy().astype(np.uint8)


def _standardised(rows: Mapping[str, Rows], mean: Tensor, scale: Tensor) -> dict[str, Rows]:
    return {split: replace(part, inputs=(part.inputs - mean) / scale) for split, part in rows.items()}
