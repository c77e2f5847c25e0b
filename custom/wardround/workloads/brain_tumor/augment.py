"""Random training crops: position, flips and intensity jitter, copied straight out of memory-mapped cases.

Plain slicing into one buffer: MONAI's cached transform chain costs 6 ms for a crop of 32 voxels a side, this under 1.
All randomness comes from one `torch.Generator`, one draw a crop, so a seed gives the same crops on every machine.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wardround.workloads.brain_tumor.prepared import PreparedCase
from wardround.workloads.brain_tumor.settings import Augmentation, Patch, Triple


def visiting_order(count: int, generator: torch.Generator) -> Iterator[int]:
    """Endless indices: each of `count` once in a random order, then all again in another."""
    while True:
        yield from torch.randperm(count, generator=generator).tolist()


def training_batch(
    cases: Sequence[PreparedCase], patch: Patch, augmentation: Augmentation, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """One augmented crop of each case.

    Returns:
        float32 image [B, C, *patch.size] and float32 target [B, 3, *patch.size].
    """
    channels = cases[0].image.shape[0]
    images = np.empty((len(cases), channels, *patch.size), np.float32)
    targets = np.empty((len(cases), 3, *patch.size), np.float32)
    for case, image, target in zip(cases, images, targets, strict=True):
        assert case.label is not None
        draws = torch.rand(8 + 2 * channels, generator=generator).tolist()
        start = crop_start(case.image.shape[1:], patch, case.foreground, draws[:5])
        flips = tuple(slice(None, None, -1 if augmentation.flip and draw < 0.5 else 1) for draw in draws[5:8])
        box = (slice(None), *(slice(low, low + side) for low, side in zip(start, patch.size, strict=True)))
        np.copyto(image, case.image[box][(slice(None), *flips)])
        np.copyto(target, case.label[box][(slice(None), *flips)])
        _jitter(image, augmentation, draws[8:])
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


def _jitter(image: NDArray[np.float32], augmentation: Augmentation, draws: Sequence[float]) -> None:
    """x * (1 +- scale) +- shift for each channel, in place, where x is not 0: the background stays 0."""
    if not augmentation.scale and not augmentation.shift:
        return
    changes = np.reshape(2 * np.array(draws) - 1, (2, -1)) * [[augmentation.scale], [augmentation.shift]]
    scales, shifts = changes.astype(np.float32)  # a float64 scalar would double the cost of what follows
    for channel, scale, shift in zip(image, scales, shifts, strict=True):
        inside = channel != 0
        channel *= 1 + scale
        channel += shift * inside
