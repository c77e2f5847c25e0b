"""Probabilities corrected at a site: one slope and one offset a region, on top of a network's logits."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from sklearn.model_selection import GroupKFold
from torch import Tensor, nn

from wardround.metrics.firm_gain import firm_gain
from wardround.metrics.platt import fit_platt, log_losses
from wardround.metrics.support import FEWEST_CASES
from wardround.workloads.brain_tumor.inference import infer_logits
from wardround.workloads.brain_tumor.scoring import LabelledCase
from wardround.workloads.brain_tumor.settings import REGIONS, BrainTumorSettings
from wardround.workloads.evaluation import evaluation_mode

VOXELS_PER_CASE = 20_000  # more change the two numbers of a region by less than the patients differ
_FOLDS = 5
_RIDGE = 1e-6


class Recalibrated(nn.Module):
    """A network whose logits are stretched and shifted by region.

    Args:
        network: gives logits [batch, regions, X, Y, Z].
        slopes, offsets: one a region; slopes are above 0, so that the order of voxels stays.
    """

    slopes: Tensor
    offsets: Tensor

    def __init__(self, network: nn.Module, slopes: Sequence[float], offsets: Sequence[float]) -> None:
        super().__init__()
        self.network = network
        device = next(network.parameters()).device
        self.register_buffer("slopes", torch.tensor(slopes, device=device)[:, None, None, None])
        self.register_buffer("offsets", torch.tensor(offsets, device=device)[:, None, None, None])

    def forward(self, image: Tensor) -> Tensor:
        """slope x logit + offset. A sliding window averages logits with weights that add up to 1: so it commutes."""
        logits: Tensor = self.network(image)
        return self.slopes * logits + self.offsets


@dataclass(frozen=True)
class _Voxels:
    """Logits and labels [voxels, regions] of some voxels, and whose they are."""

    logits: np.ndarray
    labels: np.ndarray
    patients: np.ndarray


def recalibrate(
    network: nn.Module, cases: Sequence[LabelledCase], settings: BrainTumorSettings, *, seed: int = 0
) -> Recalibrated | None:
    """Fits sigmoid(a logit + b) by region on voxels of `cases`, and keeps it for a region where it helps.

    It helps where the log loss over held-out patients (up to five folds) is firmly lower than without, see
    `firm_gain`: a fit always looks good on the patients that it was fitted to.

    Args:
        network: image to logits, on any device.
        cases: of the validation split.
        settings: patch size and inference.
        seed: of the voxels that are looked at.

    Returns:
        None below three patients, where logits are not finite, or where it helps in no region.
    """
    if len({case.patient for case in cases}) < FEWEST_CASES:
        return None
    voxels = _some_voxels(network, cases, settings, np.random.default_rng(seed))
    if not np.isfinite(voxels.logits).all():
        return None
    chosen = [_chosen(voxels.logits[:, i], voxels.labels[:, i], voxels.patients) for i in range(len(REGIONS))]
    if all(fit is None for fit in chosen):
        return None
    slopes, offsets = zip(*((1.0, 0.0) if fit is None else fit for fit in chosen), strict=True)
    return Recalibrated(network, slopes, offsets)


def _some_voxels(
    network: nn.Module, cases: Sequence[LabelledCase], settings: BrainTumorSettings, generator: np.random.Generator
) -> _Voxels:
    logits, labels, patients = [], [], []
    with evaluation_mode(network):
        for case in cases:
            found = infer_logits(network, case.image, settings).flatten(1).cpu().numpy()
            truth = np.asarray(case.label).reshape(len(REGIONS), -1)
            index = generator.choice(found.shape[1], min(VOXELS_PER_CASE, found.shape[1]), replace=False)
            logits.append(found[:, index].T.astype(np.float64))
            labels.append(truth[:, index].T.astype(np.uint8))
            patients += [case.patient] * len(index)
    return _Voxels(np.concatenate(logits), np.concatenate(labels), np.array(patients))


def _chosen(logits: np.ndarray, labels: np.ndarray, patients: np.ndarray) -> tuple[float, float] | None:
    """Slope and offset fitted to all voxels, where such a fit lowers the log loss over patients left out of it."""
    folds = GroupKFold(min(_FOLDS, len(np.unique(patients))))
    held_out = np.empty_like(logits)
    for fitted, left_out in folds.split(logits, labels, patients):
        fit = fit_platt(logits[fitted], labels[fitted], ridge=_RIDGE)
        if fit is None:
            return None
        held_out[left_out] = fit[0] * logits[left_out] + fit[1]
    fit = fit_platt(logits, labels, ridge=_RIDGE)
    return fit if firm_gain(log_losses(logits, labels), log_losses(held_out, labels), patients) is not None else None
