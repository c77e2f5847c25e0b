"""The fixed part of preprocessing, once a case: orientation, spacing, normalisation, foreground crop; and the way back.

Orientation comes before spacing, since the target spacing is given for the axes of the target orientation.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import torch
from monai.data import MetaTensor
from monai.data.utils import AFFINE_TOL, compute_shape_offset, zoom_affine
from monai.transforms import NormalizeIntensity, Spacing
from monai.transforms.utils import generate_spatial_bounding_box
from numpy.typing import NDArray

from wardround.records.faults import fault
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.copies import contents_of
from wardround.workloads.brain_tumor.gathered import Gathered
from wardround.workloads.brain_tumor.geometry import Volume, oriented, read_volume, refuse_other_grid
from wardround.workloads.brain_tumor.grid import CaseGrid
from wardround.workloads.brain_tumor.labels import to_regions
from wardround.workloads.brain_tumor.layouts import CaseFiles
from wardround.workloads.brain_tumor.remarks import Remark, remarks_on
from wardround.workloads.brain_tumor.settings import BrainTumorSiteSettings, ImageContract

SPACING_TOLERANCE = 1e-3  # relative; below it, resampling would only blur
FOREGROUND_SAMPLES = 4096  # tumor voxels kept to centre crops on: enough that crops vary, 48 KiB a case
_LEAST_BACKGROUND = 0.2  # zeros in a stripped brain's bounding box: an ellipsoid leaves 1 - pi/6 = .48 of its box
_MIN_MAX_PERCENTILE = 99.5


def go_on() -> None:
    """Nobody wants it to end."""


@dataclass(frozen=True)
class Preparation:
    """What preprocessing gives.

    Args:
        image: float32 [C, X, Y, Z], channels in the contract's order, background 0.
        label: uint8 [3, X, Y, Z] of TC, WT, ET; None for a case without a label.
        foreground: int32 [n, 3], a sample of voxel indices inside the whole tumor.
        missing: sequences for which a zero channel stands in.
        grid: how to get back to the grid of the input file.
        contents: SHA-256 of the voxels of each sequence and of the label, see `contents_of`.
        remarks: what is doubtful about it.
    """

    image: NDArray[np.float32]
    label: NDArray[np.uint8] | None
    foreground: NDArray[np.int32]
    missing: tuple[str, ...]
    grid: CaseGrid
    contents: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()


def prepare(
    files: CaseFiles,
    contract: ImageContract,
    site: BrainTumorSiteSettings,
    *,
    with_label: bool = True,
    between_steps: Callable[[], None] = go_on,
) -> Preparation:
    """Reads and preprocesses one case.

    Args:
        files: of the case.
        contract: what images have to be.
        site: how the hospital names and marks them.
        with_label: false where there is none, or it is not wanted.
        between_steps: is called every second or so of a large case, and may raise to end it.

    Raises:
        WardroundError: a file is unreadable, lies on another grid, breaks the contract, or has a label that does not
            fit the site's convention; all that is wrong is told.
    """
    told = Gathered()
    inputs: dict[str, Volume] = {}
    marked: Volume | None = None
    for name, file in files.volumes.items():
        between_steps()
        with told:
            inputs[name] = read_volume(file.file, file.channel, file.channels)
    if with_label and files.label:
        with told:
            marked = read_volume(files.label)
    told.refuse()
    between_steps()
    reference = next(iter(inputs.values()))
    volumes = {name: oriented(volume, contract.orientation) for name, volume in inputs.items()}
    first = next(iter(volumes.values()))
    present = {}
    for name, volume in volumes.items():
        with told:
            refuse_other_grid(volume, first)
        with told:
            if volume.data.any():
                _refuse_unstripped(volume)
                present[name] = volume
            elif name not in site.allow_missing:
                raise _all_zero(name, volume)
    label = None
    if marked is not None:
        marked = oriented(marked, contract.orientation)
        with told:
            refuse_other_grid(marked, first)
        with told:
            label = to_regions(marked.data, site.labels, str(files.label))
    told.refuse()
    if not present:
        raise WardroundError(Reason.SEQUENCE_MISSING, fault("every voxel of every sequence is 0", case=files.case))
    between_steps()
    contents = contents_of(present, label)
    remarks = remarks_on(present, None if marked is None else marked.data, label)
    nothing = np.zeros_like(first.data)
    image = np.stack([present[name].data if name in present else nothing for name in contract.sequences])

    between_steps()
    image, resampled_affine = resample(image, first.affine, contract.spacing_mm, "bilinear")
    if label is not None:
        resampled, _ = resample(label.astype(np.float32), first.affine, contract.spacing_mm, "nearest")
        label = resampled.astype(np.uint8)
    between_steps()
    image = _NORMALISATIONS[site.normalisation](image)
    occupied = (image != 0).any(0) if label is None else (image != 0).any(0) | label.any(0)
    box = occupied_box(occupied)
    between_steps()
    resampled_shape = image.shape[1:]
    image = np.ascontiguousarray(image[(slice(None), *box)], dtype=np.float32)
    label = None if label is None else np.ascontiguousarray(label[(slice(None), *box)])
    grid = CaseGrid(
        input_shape=reference.data.shape,
        input_affine=reference.affine,
        oriented_shape=first.data.shape,
        oriented_affine=first.affine,
        orientation=contract.orientation,
        resampled_shape=resampled_shape,
        resampled_affine=resampled_affine,
        start=(box[0].start, box[1].start, box[2].start),
        shape=image.shape[1:],
        padding=((0, 0), (0, 0), (0, 0)),
    )
    missing = tuple(name for name in contract.sequences if name not in present)
    return Preparation(image, label, _foreground_sample(label), missing, grid, contents, remarks)


def resample(
    data: NDArray[np.float32], affine: NDArray[np.float64], spacing: tuple[float, float, float], mode: str
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Channels [C, X, Y, Z] at another voxel size (mm), and their affine; unchanged where the size is right already."""
    found = np.linalg.norm(affine[:3, :3], axis=0)
    if np.allclose(found, spacing, rtol=SPACING_TOLERANCE, atol=0):
        return data, affine
    result = Spacing(spacing, mode=mode, padding_mode="border")(
        MetaTensor(torch.from_numpy(data), affine=torch.from_numpy(affine))
    )
    return result.as_tensor().numpy().astype(np.float32), result.affine.numpy().astype(np.float64)


def resampled_shape(
    shape: tuple[int, int, int], affine: NDArray[np.float64], spacing: tuple[float, float, float]
) -> tuple[int, int, int]:
    """Voxels that `resample` would give, without doing it: by the functions that MONAI's `Spacing` asks."""
    found = np.linalg.norm(affine[:3, :3], axis=0)
    if np.allclose(found, spacing, rtol=SPACING_TOLERANCE, atol=0):
        return shape
    sides = np.where(np.abs(found - spacing) <= AFFINE_TOL, found, spacing)
    x, y, z = compute_shape_offset(shape, affine, zoom_affine(affine, sides, diagonal=False))[0]
    return int(x), int(y), int(z)


def occupied_box(occupied: NDArray[np.bool_]) -> tuple[slice, slice, slice]:
    """The smallest box [X, Y, Z] around what is true; empty where nothing is."""
    (x, y, z), stop = generate_spatial_bounding_box(occupied[None])
    return slice(int(x), int(stop[0])), slice(int(y), int(stop[1])), slice(int(z), int(stop[2]))


def _z_score(image: NDArray[np.float32]) -> NDArray[np.float32]:
    """(x - mean) / standard deviation over the non-zero voxels of each channel; zeros stay zero."""
    normalise = NormalizeIntensity(nonzero=True, channel_wise=True)
    return normalise(torch.from_numpy(image.copy())).numpy()


def _min_max(image: NDArray[np.float32]) -> NDArray[np.float32]:
    """x / 99.5th percentile of each channel: not what the sites agreed on; for studying what that does."""
    top = np.percentile(image, _MIN_MAX_PERCENTILE, axis=(1, 2, 3), keepdims=True)
    return (image / np.where(top > 0, top, 1.0)).astype(np.float32)


_NORMALISATIONS: dict[str, Callable[[NDArray[np.float32]], NDArray[np.float32]]] = {
    "z_score": _z_score,
    "min_max": _min_max,
}


def _all_zero(name: str, volume: Volume) -> WardroundError:
    advice = f"leave the case out, or list {name} in `allow_missing`"
    told = fault(f"every voxel of {name} is 0", file=volume.file, expected="an image", advice=advice)
    return WardroundError(Reason.SEQUENCE_MISSING, told)


def _refuse_unstripped(volume: Volume) -> None:
    """Non-zero statistics take zero for background, so a brain must lie in zeros."""
    background = float((volume.data == 0).mean())
    if background < _LEAST_BACKGROUND:
        raise WardroundError(
            Reason.NOT_SKULL_STRIPPED,
            fault(
                f"only {background:.0%} of its voxels are 0, so the background is not zero",
                file=volume.file,
                expected=f"{_LEAST_BACKGROUND:.0%} at least",
                advice="the study needs skull-stripped images: see docs/data.md for tools",
            ),
        )


def _foreground_sample(label: NDArray[np.uint8] | None) -> NDArray[np.int32]:
    if label is None:
        return np.zeros((0, 3), np.int32)
    voxels = np.argwhere(label[1]).astype(np.int32)
    if len(voxels) > FOREGROUND_SAMPLES:
        chosen = np.random.default_rng(0).choice(len(voxels), FOREGROUND_SAMPLES, replace=False)
        voxels = voxels[np.sort(chosen)]
    return voxels
