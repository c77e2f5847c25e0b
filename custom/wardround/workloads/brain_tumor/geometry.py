"""Reads one NIfTI volume and refuses what cannot be placed in space; brings volumes to one orientation and grid."""

import gzip
import math
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nibabel as nib
import numpy as np
from nibabel.affines import voxel_sizes
from nibabel.filebasedimages import ImageFileError
from nibabel.orientations import apply_orientation, axcodes2ornt, inv_ornt_aff, io_orientation, ornt_transform
from nibabel.spatialimages import HeaderDataError
from nibabel.wrapstruct import WrapStructError
from numpy.typing import NDArray

from wardround.records.faults import fault
from wardround.records.reasons import Reason, WardroundError

# Two affines agree if they put every corner of the grid within this share of the smallest voxel side. Rounding of
# quaternions to float32 moves a corner by some 1e-3 of a voxel; half a voxel would already blur a small lesion.
TOLERANCE = 0.02

LARGEST_MM = 600.0  # a side of the field of view: a whole body scanner's bore is 700 mm wide, and a head far smaller

_NIFTI2 = ((540).to_bytes(4, "little"), (540).to_bytes(4, "big"))  # its header's length, the file's first field
_UNREADABLE = (OSError, EOFError, ValueError, zlib.error, ImageFileError, HeaderDataError, WrapStructError)


@dataclass(frozen=True)
class Volume:
    """A volume in space: data [X, Y, Z], and the affine (4 x 4, mm) from voxel indices to the scanner's space."""

    data: NDArray
    affine: NDArray[np.float64]
    file: Path

    @property
    def spacing(self) -> tuple[float, float, float]:
        """Voxel sides in mm."""
        x, y, z = voxel_sizes(self.affine)
        return float(x), float(y), float(z)


def read_volume(file: Path, channel: int | None = None, channels: int | None = None) -> Volume:
    """Reads a 3D file, or one channel of a 4D file that must have `channels` of them.

    Raises:
        WardroundError: DATA_UNREADABLE, GEOMETRY_INVALID or NOT_FINITE, naming the file.
    """
    image, header = _open(file)
    affine = _checked_affine(image, header, file)
    _refuse_too_large(image.shape[:3], voxel_sizes(affine), file)
    data = _voxels(image, file, channel, channels)
    if min(data.shape) < 2:
        raise _invalid(
            file,
            f"found {_by(data.shape)} voxels: a single slice has no third dimension",
            expected="a volume",
            advice="export the whole volume",
        )
    if not np.isfinite(data).all():
        count = int((~np.isfinite(data)).sum())
        told = fault(f"{count} voxels are NaN or infinite", file=file, advice="export the image again")
        raise WardroundError(Reason.NOT_FINITE, told)
    return Volume(data, affine, file)


def oriented(volume: Volume, orientation: str) -> Volume:
    """Flips and swaps axes, without interpolation, so that they point as `orientation` (such as RAS) says."""
    change = ornt_transform(io_orientation(volume.affine), axcodes2ornt(tuple(orientation)))
    affine = volume.affine @ inv_ornt_aff(change, volume.data.shape)
    return Volume(np.ascontiguousarray(apply_orientation(volume.data, change)), affine, volume.file)


def unoriented(data: NDArray, input_affine: NDArray[np.float64], orientation: str) -> NDArray:
    """Undoes `oriented` for data [X, Y, Z] that came from a file with `input_affine`."""
    back = ornt_transform(axcodes2ornt(tuple(orientation)), io_orientation(input_affine))
    return np.ascontiguousarray(apply_orientation(data, back))


def refuse_other_grid(volume: Volume, reference: Volume) -> None:
    """Raises GEOMETRY_INVALID unless both volumes, in one orientation, have the same voxels at the same places."""
    if volume.data.shape != reference.data.shape:
        raise _invalid(
            volume.file,
            f"{_by(volume.data.shape)} voxels, but {reference.file.name} has {_by(reference.data.shape)}",
            advice="resample both onto one grid",
        )
    gap = _largest_gap(volume.affine, reference.affine, volume.data.shape)
    if gap > TOLERANCE * min(reference.spacing):
        raise _invalid(
            volume.file,
            f"its grid lies up to {gap:.3g} mm off that of {reference.file.name} "
            f"(allowed: {TOLERANCE * min(reference.spacing):.3g} mm)",
            advice="resample both onto one grid",
        )


def _open(file: Path) -> tuple[Any, Any]:
    """The image, and its header as stored: on loading, nibabel silently turns a spacing of 0 into 1.

    The file is read whole, so that gzip checks its checksum: nibabel alone stops at the last voxel and takes damaged
    bytes for an image.
    """
    try:
        content = file.read_bytes()
        if not content:
            raise WardroundError(Reason.DATA_UNREADABLE, fault("the file is empty", file=file, advice="copy it again"))
        if file.suffix == ".gz":
            content = gzip.decompress(content)
        kind = nib.Nifti2Image if content[:4] in _NIFTI2 else nib.Nifti1Image
        image = kind.from_bytes(content)
        header = kind.header_class(content[: kind.header_class.sizeof_hdr], check=False)
        _refuse_cut_short(image, len(content), file)
    except _UNREADABLE as error:
        raise _unreadable(file, error) from error
    return image, header


def _voxels(image: Any, file: Path, channel: int | None, channels: int | None) -> NDArray:
    shape = image.shape
    while len(shape) > 3 and shape[-1] == 1 and channels is None:
        shape = shape[:-1]
    if channels is not None and (len(shape) != 4 or shape[3] != channels):
        raise _invalid(
            file,
            f"found {_by(shape)}",
            expected=f"four dimensions, the last of {channels} channels as dataset.json names",
            advice="export all channels in one file",
        )
    if channels is None and len(shape) != 3:
        raise _invalid(file, f"found {_by(shape)}", expected="three dimensions", advice="export one volume a file")
    if image.get_data_dtype().kind not in "iuf":
        raise WardroundError(
            Reason.DATA_UNREADABLE,
            fault(
                f"found type {image.get_data_dtype()}",
                file=file,
                expected="one number a voxel",
                advice="export intensities, not colors",
            ),
        )
    try:
        stored = image.dataobj[..., channel] if channel is not None else image.dataobj
        return np.asarray(stored, dtype=np.float32).reshape(shape[:3])
    except _UNREADABLE as error:
        raise _unreadable(file, error) from error


def _checked_affine(image: Any, header: Any, file: Path) -> NDArray[np.float64]:
    sides = np.asarray(header["pixdim"][1:4], dtype=np.float64)
    if not np.isfinite(sides).all() or (sides <= 0).any():
        raise _invalid(
            file, f"found pixdim {_by(sides)}", expected="voxel spacing above zero", advice="convert from DICOM again"
        )
    if not header["qform_code"] and not header["sform_code"]:
        told = "neither sform nor qform is set, so left and right are unknown"
        raise _invalid(file, told, advice="convert from DICOM again")
    affine = np.asarray(image.affine, dtype=np.float64)
    spacing = voxel_sizes(affine)
    if not np.isfinite(affine).all() or (spacing <= 1e-6).any() or abs(np.linalg.det(affine[:3, :3])) < 1e-9:
        told = f"the affine has no inverse: voxel spacing {_by(spacing)}"
        raise _invalid(file, told, advice="convert from DICOM again")
    if header["qform_code"] and header["sform_code"]:
        gap = _largest_gap(image.header.get_qform(), image.header.get_sform(), image.shape[:3])
        if gap > TOLERANCE * spacing.min():
            told = f"sform and qform differ by up to {gap:.3g} mm"
            raise _invalid(file, told, advice="set both to the right one")
    return affine


def _refuse_cut_short(image: Any, present: int, file: Path) -> None:
    """A damaged header can promise more voxels than any memory holds, so it is compared before anything is made."""
    promised = int(image.dataobj.offset) + math.prod(image.shape) * image.get_data_dtype().itemsize
    if promised > present:
        raise WardroundError(
            Reason.DATA_UNREADABLE,
            fault(
                f"its header promises {_by(image.shape)} voxels, {promised} bytes, but it holds {present}",
                file=file,
                expected=f"{promised} bytes",
                advice="copy it again",
            ),
        )


def _refuse_too_large(shape: tuple[int, ...], spacing: NDArray[np.float64], file: Path) -> None:
    """Resampling keeps the field of view, so a spacing in the wrong unit would ask for more memory than there is."""
    sides = np.asarray(shape) * spacing[: len(shape)]
    if (sides > LARGEST_MM).any():
        raise _invalid(
            file,
            f"its field of view is {_by(sides)} mm, and no head is larger than {LARGEST_MM:g} mm a side",
            expected=f"{LARGEST_MM:g} mm at most",
            advice=f"its voxel spacing {_by(spacing)} is not in mm, or wrong: convert from DICOM again",
        )


def _largest_gap(one: NDArray, other: NDArray, shape: tuple[int, ...]) -> float:
    """Largest distance (mm) between where two affines put a corner of the grid."""
    last = np.asarray(shape, dtype=np.float64) - 1
    corners = np.array([[x, y, z, 1.0] for x in (0, last[0]) for y in (0, last[1]) for z in (0, last[2])])
    return float(np.linalg.norm((corners @ (np.asarray(one) - np.asarray(other)).T)[:, :3], axis=1).max())


def _unreadable(file: Path, error: Exception) -> WardroundError:
    return WardroundError(
        Reason.DATA_UNREADABLE,
        fault(f"not a readable NIfTI file ({type(error).__name__}: {error})", file=file, advice="copy it again"),
    )


def _invalid(file: Path, found: str, *, expected: str = "", advice: str = "") -> WardroundError:
    return WardroundError(Reason.GEOMETRY_INVALID, fault(found, file=file, expected=expected, advice=advice))


def _by(numbers: Any) -> str:
    return " x ".join(f"{number:g}" for number in numbers)
