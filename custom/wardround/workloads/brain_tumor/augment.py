"""Random training crops: position, flips and intensity jitter, copied straight out of memory-mapped cases.

Plain slicing into one buffer: MONAI's cached transform chain costs 6 ms for a crop of 32 voxels a side, this under 1.
All randomness comes from one `torch.Generator`, one draw a crop, so a seed gives the same crops on every machine.
"""

from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wardround.workloads.brain_tumor.prepared import PreparedCase
from wardround.workloads.brain_tumor.settings import Augmentation, Patch, Triple

_Plane = tuple[NDArray[Any], NDArray[np.float32], Any, Any]  # from, into, scale, shift


def training_batch(
    cases: Sequence[PreparedCase],
    patch: Patch,
    augmentation: Augmentation,
    generator: torch.Generator,
    workers: Executor | None = None,
) -> tuple[Tensor, Tensor]:
    """One augmented crop of each case.

    Args:
        workers: fills the channels side by side, which changes nothing but the time it takes.

    Returns:
        float32 image [B, C, *patch.size] and float32 target [B, 3, *patch.size].
    """
    channels = cases[0].image.shape[0]
    images = np.empty((len(cases), channels, *patch.size), np.float32)
    targets = np.empty((len(cases), 3, *patch.size), np.float32)
    planes: list[_Plane] = []
    for case, image, target in zip(cases, images, targets, strict=True):
        assert case.label is not None
        draws = torch.rand(8 + 2 * channels, generator=generator).tolist()
        start = crop_start(case.image.shape[1:], patch, case.foreground, draws[:5])
        flips = tuple(slice(None, None, -1 if augmentation.flip and draw < 0.5 else 1) for draw in draws[5:8])
        box = (slice(None), *(slice(low, low + side) for low, side in zip(start, patch.size, strict=True)))
        seen, truth = case.image[box][(slice(None), *flips)], case.label[box][(slice(None), *flips)]
        scales, shifts = _intensity_changes(augmentation, draws[8:])
        planes += zip(seen, image, scales, shifts, strict=True)
        planes += ((source, into, None, None) for source, into in zip(truth, target, strict=True))
    for _ in (workers.map if workers else map)(_fill, planes):
        pass
    return torch.from_numpy(images), torch.from_numpy(targets)


def plain_batch(cases: Sequence[PreparedCase], size: Triple, generator: torch.Generator) -> Tensor:
    """One crop of each case, anywhere, unchanged: float32 [B, C, *size]."""
    anywhere = Patch(size=size, tumor_share=0)
    images = np.empty((len(cases), cases[0].image.shape[0], *size), np.float32)
    for case, image in zip(cases, images, strict=True):
        draws = torch.rand(5, generator=generator).tolist()
        start = crop_start(case.image.shape[1:], anywhere, case.foreground, draws)
        np.copyto(image, case.image[(slice(None), *(slice(a, a + b) for a, b in zip(start, size, strict=True)))])
    return torch.from_numpy(images)


def crop_start(
    shape: tuple[int, ...], patch: Patch, foreground: NDArray[np.int32], draws: Sequence[float]
) -> tuple[int, ...]:
    """First voxel of a crop that lies inside a volume of `shape`.

    With probability `patch.tumor_share` (and where there is tumor) the crop's centre lies within a quarter of its side
    of a random tumor voxel; otherwise every position is equally likely.

    Args:
        draws: five uniform numbers in [0, 1): which kind of crop, which tumor voxel, and where along each axis.
    """
    room = [have - side for have, side in zip(shape, patch.size, strict=True)]
    if draws[0] >= patch.tumor_share or not len(foreground):
        return tuple(int(draw * (free + 1)) for draw, free in zip(draws[2:5], room, strict=True))
    voxel = foreground[int(draws[1] * len(foreground))].tolist()
    starts = (
        centre - side // 2 + int(draw * (2 * (side // 4) + 1)) - side // 4
        for centre, side, draw in zip(voxel, patch.size, draws[2:5], strict=True)
    )
    return tuple(min(max(start, 0), free) for start, free in zip(starts, room, strict=True))


def _intensity_changes(augmentation: Augmentation, draws: Sequence[float]) -> tuple[Any, Any]:
    """A factor 1 +- scale and a summand +- shift for each channel; None where nothing is to change."""
    if not augmentation.scale and not augmentation.shift:
        nothing = [None] * (len(draws) // 2)
        return nothing, nothing
    changes = np.reshape(2 * np.array(draws) - 1, (2, -1)) * [[augmentation.scale], [augmentation.shift]]
    scales, shifts = changes.astype(np.float32)  # a float64 scalar would double the cost of what follows
    return 1 + scales, shifts


def _fill(plane: _Plane) -> None:
    """Copies one channel, then x * scale + shift where x is not 0: the background stays 0."""
    source, into, scale, shift = plane
    np.copyto(into, source)
    if scale is not None:
        inside = into != 0
        into *= scale
        into += shift * inside
