"""Dice from voxel counts, with what to do where a region is empty decided openly."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class VoxelCounts:
    """Voxels of one region in one case: in both, in the prediction, in the reference."""

    both: int
    predicted: int
    reference: int


def count_voxels(prediction: Tensor, reference: Tensor) -> list[VoxelCounts]:
    """Counts by region from two binary tensors [regions, X, Y, Z] of the same shape and device."""
    if prediction.shape != reference.shape:
        raise ValueError(f"prediction {tuple(prediction.shape)} and reference {tuple(reference.shape)} differ in shape")
    predicted, truth = prediction.flatten(1).bool(), reference.flatten(1).bool()
    both = (predicted & truth).sum(1).tolist()
    return [VoxelCounts(*counts) for counts in zip(both, predicted.sum(1).tolist(), truth.sum(1).tolist(), strict=True)]


def dice(counts: VoxelCounts) -> float | None:
    """2 both / (predicted + reference), or None where the reference is empty.

    An empty reference has no overlap to measure: whoever averages leaves the case out and says how many were left
    out, and a prediction there is told by `false_positive_volume_ml`.

    Source: Dice 1945; equals MONAI's `DiceMetric(ignore_empty=True)`.
    """
    if counts.reference == 0:
        return None
    return 2 * counts.both / (counts.predicted + counts.reference)


def false_positive_volume_ml(counts: VoxelCounts, voxel_mm3: float) -> float | None:
    """Predicted volume in milliliters where the reference is empty (0 where the prediction is too), else None."""
    if counts.reference:
        return None
    return counts.predicted * voxel_mm3 / 1000


def brats_dice(counts: VoxelCounts) -> float:
    """Dice by the BraTS challenge's convention: 1 where both are empty, 0 where only one is."""
    if counts.predicted + counts.reference == 0:
        return 1.0
    return 2 * counts.both / (counts.predicted + counts.reference)
