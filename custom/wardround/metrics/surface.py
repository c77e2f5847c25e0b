"""HD95: how far apart two outlines are, in millimeters."""

import math
import warnings

from monai.metrics import compute_hausdorff_distance
from torch import Tensor

BRATS_PENALTY_MM = 373.13  # diagonal of BraTS' 240 x 240 x 155 mm volume
Spacing = tuple[float, float, float]


def hd95_mm(prediction: Tensor, reference: Tensor, spacing_mm: Spacing) -> float | None:
    """The larger of both directions' 95th percentile of surface distance between two masks [X, Y, Z].

    A missed lesion (the prediction is empty, the reference is not) costs the image's diagonal; dropping it, as an
    average over NaN does, would reward a network that predicts nothing. An empty reference has no outline to measure
    from: None, and a prediction there is told by `false_positive_volume_ml`.

    One mask at a time: MONAI's `include_background=False`, the metric class's default, would drop the first of
    several channels, which here is the tumor core.
    """
    if not reference.any():
        return None
    if not prediction.any():
        return diagonal_mm(tuple(reference.shape), spacing_mm)
    return _measured(prediction, reference, spacing_mm)


def brats_hd95_mm(prediction: Tensor, reference: Tensor, spacing_mm: Spacing) -> float:
    """HD95 by the BraTS challenge's convention: 0 where both are empty, 373.13 where only one is."""
    if prediction.any() != reference.any():
        return BRATS_PENALTY_MM
    if not reference.any():
        return 0.0
    return _measured(prediction, reference, spacing_mm)


def diagonal_mm(shape: tuple[int, ...], spacing_mm: Spacing) -> float:
    """Length of the diagonal of a volume of `shape` voxels."""
    return math.hypot(*(side * step for side, step in zip(shape, spacing_mm, strict=True)))


def _measured(prediction: Tensor, reference: Tensor, spacing_mm: Spacing) -> float:
    with warnings.catch_warnings():  # MONAI 1.6 calls its own deprecated argument
        warnings.simplefilter("ignore", FutureWarning)
        distance = compute_hausdorff_distance(
            prediction[None, None].bool(),
            reference[None, None].bool(),
            include_background=True,
            percentile=95,
            spacing=list(spacing_mm),
        )
    return float(distance)
