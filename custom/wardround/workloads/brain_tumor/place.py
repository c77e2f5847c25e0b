"""Where the voxels of a NIfTI file lie, as its header tells; refuses what cannot be placed in space."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from nibabel.affines import voxel_sizes
from numpy.typing import NDArray

from wardround.records.faults import fault
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.nifti_file import UNREADABLE, Header, unreadable

# Two affines agree if they put every corner of the grid within this share of the smallest voxel side. Rounding of
# quaternions to float32 moves a corner by some 1e-3 of a voxel; half a voxel would already blur a small lesion.
TOLERANCE = 0.02

LARGEST_MM = 600.0  # a side of the field of view: a whole body scanner's bore is 700 mm wide, and a head far smaller

Shape = tuple[int, int, int]


class Placed(Protocol):
    """What lies somewhere in space: a volume, or what a header tells of one."""

    @property
    def shape(self) -> Shape:
        """Voxels along each axis."""

    @property
    def affine(self) -> NDArray[np.float64]:
        """4 x 4 (mm), from voxel indices to the scanner's space."""

    @property
    def file(self) -> Path:
        """Where it comes from."""


@dataclass(frozen=True)
class Place:
    """Where a file's voxels lie, as its header tells."""

    shape: Shape
    affine: NDArray[np.float64]
    file: Path


def spacing_of(placed: Placed) -> tuple[float, float, float]:
    """Voxel sides in mm."""
    x, y, z = voxel_sizes(placed.affine)
    return float(x), float(y), float(z)


def place_of(header: Header, channels: int | None = None) -> Place:
    """Where a 3D file's voxels lie, or those of one channel of a 4D file that must have `channels` of them.

    Raises:
        WardroundError: GEOMETRY_INVALID where nobody can tell, DATA_UNREADABLE for other than one number a voxel.
    """
    file = header.file
    affine = _checked_affine(header)
    _refuse_too_large(header.shape[:3], voxel_sizes(affine), file)
    x, y, z = _volume_shape(header, channels)
    if min(x, y, z) < 1:
        raise invalid(
            file,
            f"found {by((x, y, z))} voxels",
            expected="one voxel at least along each axis",
            advice="its header is damaged: copy it again",
        )
    if min(x, y, z) < 2:
        raise invalid(
            file,
            f"found {by((x, y, z))} voxels: a single slice has no third dimension",
            expected="a volume",
            advice="export the whole volume",
        )
    return Place((x, y, z), affine, file)


def _volume_shape(header: Header, channels: int | None) -> Shape:
    file, shape = header.file, header.shape
    while len(shape) > 3 and shape[-1] == 1 and channels is None:
        shape = shape[:-1]
    if channels is not None and (len(shape) != 4 or shape[3] != channels):
        raise invalid(
            file,
            f"found {by(shape)}",
            expected=f"four dimensions, the last of {channels} channels as dataset.json names",
            advice="export all channels in one file",
        )
    if channels is None and len(shape) != 3:
        raise invalid(file, f"found {by(shape)}", expected="three dimensions", advice="export one volume a file")
    found = header.read.get_data_dtype()
    if found.kind not in "iuf":
        raise WardroundError(
            Reason.DATA_UNREADABLE,
            fault(
                f"found type {found}",
                file=file,
                expected="one number a voxel",
                advice="export intensities, not colors",
            ),
        )
    x, y, z = shape[:3]
    return x, y, z


def _checked_affine(header: Header) -> NDArray[np.float64]:
    file, affine, stored = header.file, header.affine, header.stored
    sides = np.asarray(stored["pixdim"][1:4], dtype=np.float64)
    if not np.isfinite(sides).all() or (sides <= 0).any():
        raise invalid(
            file, f"found pixdim {by(sides)}", expected="voxel spacing above zero", advice="convert from DICOM again"
        )
    if not stored["qform_code"] and not stored["sform_code"]:
        told = "neither sform nor qform is set, so left and right are unknown"
        raise invalid(file, told, expected="one of them", advice="convert from DICOM again")
    spacing = voxel_sizes(affine)
    if not np.isfinite(affine).all() or (spacing <= 1e-6).any() or abs(np.linalg.det(affine[:3, :3])) < 1e-9:
        told = f"the affine has no inverse: voxel spacing {by(spacing)}"
        raise invalid(file, told, expected="one of finite numbers that has one", advice="convert from DICOM again")
    if stored["qform_code"] and stored["sform_code"]:
        try:
            gap = largest_gap(header.read.get_qform(), header.read.get_sform(), header.shape[:3])
        except UNREADABLE as error:  # a quaternion that is none
            raise unreadable(file, error) from error
        if gap > TOLERANCE * spacing.min():
            told = f"sform and qform differ by up to {gap:.3g} mm"
            raise invalid(file, told, expected="one place by both", advice="set both to the right one")
    return affine


def _refuse_too_large(shape: tuple[int, ...], spacing: NDArray[np.float64], file: Path) -> None:
    """Resampling keeps the field of view, so a spacing in the wrong unit would ask for more memory than there is."""
    sides = np.asarray(shape) * spacing[: len(shape)]
    if (sides > LARGEST_MM).any():
        raise invalid(
            file,
            f"its field of view is {by(sides)} mm, and no head is larger than {LARGEST_MM:g} mm a side",
            expected=f"{LARGEST_MM:g} mm at most",
            advice=f"its voxel spacing {by(spacing)} is not in mm, or wrong: convert from DICOM again",
        )


def largest_gap(one: NDArray, other: NDArray, shape: tuple[int, ...]) -> float:
    """Largest distance (mm) between where two affines put a corner of the grid."""
    last = np.asarray(shape, dtype=np.float64) - 1
    corners = np.array([[x, y, z, 1.0] for x in (0, last[0]) for y in (0, last[1]) for z in (0, last[2])])
    return float(np.linalg.norm((corners @ (np.asarray(one) - np.asarray(other)).T)[:, :3], axis=1).max())


def invalid(file: Path, found: str, *, expected: str = "", advice: str = "") -> WardroundError:
    """GEOMETRY_INVALID of a file."""
    return WardroundError(Reason.GEOMETRY_INVALID, fault(found, file=file, expected=expected, advice=advice))


def by(numbers: Any) -> str:
    """Such as `240 x 240 x 155`."""
    return " x ".join(f"{number:g}" for number in numbers)
