"""Scores a network on a site's cases: Dice and HD95 by region, false alarms, and tallies that sites can add up."""

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from wardround.metrics.dice import brats_dice, count_voxels, dice, false_positive_volume_ml
from wardround.metrics.intervals import mean_interval
from wardround.metrics.support import FEWEST_CASES
from wardround.metrics.surface import Spacing, brats_hd95_mm, hd95_mm
from wardround.records.metric_record import MetricRecord, Status, undefined
from wardround.records.scores import CaseScore, Scores, Tally
from wardround.workloads.brain_tumor.case_result import CaseResult
from wardround.workloads.brain_tumor.inference import infer_logits
from wardround.workloads.brain_tumor.settings import REGIONS, BrainTumorSettings
from wardround.workloads.brain_tumor.support import patients_behind, patients_behind_voxels
from wardround.workloads.evaluation import evaluation_mode

_DICE = tuple(f"dice_{region}" for region in REGIONS)
_FALSE_POSITIVE = tuple(f"false_positive_volume_{region}" for region in REGIONS)
VALIDATION_METRICS = (*_DICE, "dice_mean", *_FALSE_POSITIVE)
DETAIL_METRICS = tuple(f"{kind}_{region}" for kind in ("hd95", "brats_dice", "brats_hd95") for region in REGIONS)


class LabelledCase(Protocol):
    """What scoring reads of a prepared case: image [sequences, X, Y, Z], label [3 (TC, WT, ET), X, Y, Z]."""

    @property
    def case(self) -> str: ...  # noqa: D102
    @property
    def patient(self) -> str: ...  # noqa: D102
    @property
    def image(self) -> Any: ...  # noqa: D102
    @property
    def label(self) -> Any: ...  # noqa: D102
    @property
    def spacing_mm(self) -> Spacing: ...  # noqa: D102


def score_cases(
    network: nn.Module,
    cases: Sequence[LabelledCase],
    split: str,
    settings: BrainTumorSettings,
    *,
    detail: bool = False,
) -> Scores:
    """Predicts every case with a sliding window and scores it by region.

    In each record `n` counts the cases scored and `n_positive` those whose label holds the region; `dice_*`, `hd95_*`
    and `dice_mean` (over a case's defined regions, then over cases) average the latter, `brats_*` all of them.
    `false_positive_volume_*` averages the cases whose label lacks the region: there `n` counts those, and `n_positive`
    the false alarms among them. Fewer than three cases behind a value make it low_support; none, or logits that are not
    finite, make it undefined.

    The test split's voxels are counted for figures over all sites; sums that nobody adds up are not made.

    The network is scored in evaluation mode and left in the mode that it had.

    Args:
        network: image to logits, on any device.
        cases: may be empty.
        split: named in the result.
        settings: patch size and inference.
        detail: adds HD95 and the BraTS convention's figures, at about 20 ms a case of 48 voxels a side, and to every
            figure its 95 % interval over patients.
    """
    results = []
    with evaluation_mode(network):
        for case in cases:
            results.append(_score_case(infer_logits(network, case.image, settings), case, detail))
    names = (*VALIDATION_METRICS, *DETAIL_METRICS) if detail else VALIDATION_METRICS
    return Scores(
        split=split,
        records=[_record(name, results, interval=detail) for name in names],
        tallies=list(_voxel_tallies(results)) if split == "test" else [],
        cases=[result.score for result in results],
    )


def _score_case(logits: Tensor, case: LabelledCase, detail: bool) -> CaseResult:
    prediction = logits > 0
    label = torch.as_tensor(np.asarray(case.label)).to(prediction.device).bool()
    counts = count_voxels(prediction, label)
    voxel_mm3 = float(np.prod(case.spacing_mm))
    values: dict[str, float | None] = {}
    for region, count in zip(REGIONS, counts, strict=True):
        values[f"dice_{region}"] = dice(count)
        values[f"false_positive_volume_{region}"] = false_positive_volume_ml(count, voxel_mm3)
    values["dice_mean"] = _mean([values[name] for name in _DICE])
    if detail:
        for region, count, predicted, truth in zip(REGIONS, counts, prediction.cpu(), label.cpu(), strict=True):
            distance = hd95_mm(predicted, truth, case.spacing_mm)
            both_there = count.predicted and count.reference  # then the two conventions are one measurement
            values[f"hd95_{region}"] = distance
            values[f"brats_dice_{region}"] = brats_dice(count)
            values[f"brats_hd95_{region}"] = (
                distance if both_there else brats_hd95_mm(predicted, truth, case.spacing_mm)
            )
    return CaseResult(
        CaseScore(case=case.case, patient=case.patient, values=values),
        dict(zip(REGIONS, counts, strict=True)),
        finite=bool(torch.isfinite(logits).all()),
    )


def _record(name: str, results: list[CaseResult], *, interval: bool) -> MetricRecord:
    if not results:
        return undefined(name, "no_cases", n_positive=0)
    counted = results
    if name.startswith("false_positive_volume_"):
        counted = [result for result in results if result.values[name] is not None]
    n, n_positive = len(counted), sum(result.is_positive(name) for result in counted)
    support = patients_behind(name, [result.score for result in results])
    if not all(result.finite for result in results):
        return undefined(name, "output_not_finite", n=n, n_positive=n_positive, support=support)
    measured = [(value, result.patient) for result in counted if (value := result.values[name]) is not None]
    values = [value for value, _ in measured]
    if not values:
        return undefined(name, _nothing_to_measure(name), n=n, n_positive=n_positive, support=support)
    few = len(values) < FEWEST_CASES
    return MetricRecord(
        name=name,
        value=fmean(values),
        n=n,
        n_positive=n_positive,
        status=Status.LOW_SUPPORT if few else Status.OK,
        reason=f"fewer_than_{FEWEST_CASES}_cases" if few else None,
        interval=mean_interval(values, [patient for _, patient in measured]) if interval and not few else None,
        support=support,
    )


def _nothing_to_measure(name: str) -> str:
    return "no_case_without_region" if name.startswith("false_positive_volume_") else "no_case_with_region"


def _voxel_tallies(results: list[CaseResult]) -> Iterator[Tally]:
    for region in REGIONS:
        finite = [result for result in results if result.finite]
        sums = {
            key: float(sum(getattr(result.counts[region], key) for result in finite))
            for key in ("both", "predicted", "reference")
        }
        support = patients_behind_voxels(region, finite)
        yield Tally(name=f"voxels_{region}", counts=sums, n=len(finite), support=support)


def _mean(values: Sequence[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return fmean(defined) if defined else None
