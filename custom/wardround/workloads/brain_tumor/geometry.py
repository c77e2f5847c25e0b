"""Reads one NIfTI volume; brings volumes to one orientation and compares their grids."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from nibabel.orientations import apply_orientation, axcodes2ornt, inv_ornt_aff, io_orientation, ornt_transform
from numpy.typing import NDArray

from wardround.records.faults import fault
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.nifti_file import UNREADABLE, read_whole, unreadable
from wardround.workloads.brain_tumor.place import (
    TOLERANCE,
    Place,
    Placed,
    Shape,
    by,
    invalid,
    largest_gap,
    place_of,
    spacing_of,
)


@dataclass(frozen=True)
class Volume:
    """A volume in space: data [X, Y, Z], and the affine (4 x 4, mm) from voxel indices to the scanner's space."""

    data: NDArray
    affine: NDArray[np.float64]
    file: Path

    @property
    def shape(self) -> Shape:
        """Voxels along each axis."""
        x, y, z = self.data.shape
        return x, y, z

    @property
    def spacing(self) -> tuple[float, float, float]:
        """Voxel sides in mm."""
        return spacing_of(self)


def read_volume(file: Path, channel: int | None = None, channels: int | None = None) -> Volume:
    """Reads a 3D file, or one channel of a 4D file that must have `channels` of them.

    Raises:
        WardroundError: as `place_of`, DATA_UNREADABLE or NOT_FINITE, naming the file.
    """
    header, image = read_whole(file)
    place = place_of(header, channels)
    try:
        stored = image.dataobj[..., channel] if channel is not None else image.dataobj
        data = np.asarray(stored, dtype=np.float32).reshape(place.shape)
    except UNREADABLE as error:
        raise unreadable(file, error) from error
    if not np.isfinite(data).all():
        count = int((~np.isfinite(data)).sum())
        told = fault(
            f"{count} voxels are NaN or infinite", file=file, expected="finite numbers", advice="export the image again"
        )
        raise WardroundError(Reason.NOT_FINITE, told)
    return Volume(data, place.affine, file)


def oriented(volume: Volume, orientation: str) -> Volume:
    """Flips and swaps axes, without interpolation, so that they point as `orientation` (such as RAS) says."""
    change = _change(volume, orientation)
    affine = volume.affine @ inv_ornt_aff(change, volume.shape)
    return Volume(np.ascontiguousarray(apply_orientation(volume.data, change)), affine, volume.file)


def oriented_place(place: Place, orientation: str) -> Place:
    """The same of a place: where `oriented` puts the volume."""
    change = _change(place, orientation)
    x, y, z = (place.shape[source] for source in np.argsort(change[:, 0]))
    return Place((x, y, z), place.affine @ inv_ornt_aff(change, place.shape), place.file)


def unoriented(data: NDArray, input_affine: NDArray[np.float64], orientation: str) -> NDArray:
    """Undoes `oriented` for data [X, Y, Z] that came from a file with `input_affine`."""
    back = ornt_transform(axcodes2ornt(tuple(orientation)), io_orientation(input_affine))
    return np.ascontiguousarray(apply_orientation(data, back))


def refuse_other_grid(volume: Placed, reference: Placed) -> None:
    """Raises GEOMETRY_INVALID unless both volumes, in one orientation, have the same voxels at the same places."""
    if volume.shape != reference.shape:
        raise invalid(
            volume.file,
            f"{by(volume.shape)} voxels",
            expected=f"{by(reference.shape)}, which {reference.file.name} has",
            advice="resample both onto one grid",
        )
    gap = largest_gap(volume.affine, reference.affine, volume.shape)
    allowed = TOLERANCE * min(spacing_of(reference))
    if gap > allowed:
        raise invalid(
            volume.file,
            f"its grid lies up to {gap:.3g} mm off that of {reference.file.name}",
            expected=f"{allowed:.3g} mm at most",
            advice="resample both onto one grid",
        )


def _change(placed: Placed, orientation: str) -> NDArray:
    return ornt_transform(io_orientation(placed.affine), axcodes2ornt(tuple(orientation)))
