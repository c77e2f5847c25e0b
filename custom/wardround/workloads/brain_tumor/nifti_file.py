"""Opens NIfTI files, whole or their headers alone, and refuses what is none."""

import gzip
import logging
import math
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import nibabel as nib
import numpy as np
from nibabel import imageglobals
from nibabel.filebasedimages import ImageFileError
from nibabel.spatialimages import HeaderDataError
from nibabel.wrapstruct import WrapStructError
from numpy.typing import NDArray

from wardround.records.faults import fault
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.plain_file import refuse_no_file

# nibabel prints what it doubts of a header, without the file's name; what matters of it is told by us
imageglobals.logger.handlers = [logging.NullHandler()]
imageglobals.logger.propagate = False

_NIFTI2 = ((540).to_bytes(4, "little"), (540).to_bytes(4, "big"))  # its header's length, the file's first field
_LONGEST = nib.Nifti2Header.sizeof_hdr
UNREADABLE = (OSError, EOFError, ValueError, zlib.error, ImageFileError, HeaderDataError, WrapStructError)


@dataclass(frozen=True)
class Header:
    """What the first bytes of a file tell.

    Args:
        file: whose.
        stored: as it is in the file.
        read: as nibabel reads it: it silently turns a spacing of 0 into 1.
        shape: of all dimensions.
        affine: 4 x 4 (mm) from voxel indices to space, by sform or else qform; not checked.
    """

    file: Path
    stored: Any
    read: Any
    shape: tuple[int, ...]
    affine: NDArray[np.float64]

    @classmethod
    def of(cls, content: bytes, file: Path) -> Self:
        """Of a file's first bytes, decompressed. Raises one of `UNREADABLE`."""
        kind = kind_of(content).header_class
        block = content[: kind.sizeof_hdr]
        with np.errstate(all="ignore"):  # what overflows is refused by name, see `place_of`
            read = kind(block)
            affine = np.asarray(read.get_best_affine(), dtype=np.float64)
        return cls(file, kind(block, check=False), read, tuple(int(side) for side in read.get_data_shape()), affine)

    @property
    def promised(self) -> int:
        """Bytes of a file, decompressed, that holds all voxels."""
        return int(self.read.get_data_offset()) + math.prod(self.shape) * self.read.get_data_dtype().itemsize

    def refuse_cut_short(self, present: int) -> None:
        """A damaged header can promise more voxels than any memory holds: compared before anything is made of them.

        Args:
            present: bytes of the file, decompressed.

        Raises:
            WardroundError: DATA_UNREADABLE.
        """
        promised = self.promised
        if promised > present:
            shape = " x ".join(str(side) for side in self.shape)
            raise WardroundError(
                Reason.DATA_UNREADABLE,
                fault(
                    f"its header promises {shape} voxels, {promised} bytes, but it holds {present}",
                    file=self.file,
                    expected=f"{promised} bytes",
                    advice="copy it again",
                ),
            )


def read_header(file: Path) -> Header:
    """Reads no more than a file's header: a damaged remainder is not seen.

    Raises:
        WardroundError: DATA_UNREADABLE, naming the file.
    """
    compressed = file.suffix == ".gz"
    _refuse_other_kind(file)
    try:
        size = file.stat().st_size
        _refuse_empty(size, file)
        with gzip.open(file) if compressed else file.open("rb") as stream:
            header = Header.of(stream.read(_LONGEST), file)
    except UNREADABLE as error:
        raise unreadable(file, error) from error
    if not compressed:
        header.refuse_cut_short(size)
    return header


def read_whole(file: Path) -> tuple[Header, Any]:
    """The header, and nibabel's image of the whole content, so that gzip checks its checksum.

    nibabel alone stops at the last voxel and takes damaged bytes for an image.

    Raises:
        WardroundError: DATA_UNREADABLE, naming the file.
    """
    _refuse_other_kind(file)
    try:
        content = file.read_bytes()
        _refuse_empty(len(content), file)
        if file.suffix == ".gz":
            content = gzip.decompress(content)
        header = Header.of(content, file)
        header.refuse_cut_short(len(content))
        image = kind_of(content).from_bytes(content)
    except UNREADABLE as error:
        raise unreadable(file, error) from error
    return header, image


def kind_of(content: bytes) -> Any:
    """nibabel's class for a file that starts with these bytes."""
    return nib.Nifti2Image if content[:4] in _NIFTI2 else nib.Nifti1Image


def unreadable(file: Path, error: Exception) -> WardroundError:
    """DATA_UNREADABLE for what a library told of a file."""
    return WardroundError(
        Reason.DATA_UNREADABLE,
        fault(
            f"not a readable NIfTI file ({type(error).__name__}: {error})",
            file=file,
            expected="a whole .nii or .nii.gz file",
            advice="copy it again",
        ),
    )


def _refuse_other_kind(file: Path) -> None:
    if file.exists():  # what is missing is told as the system does
        refuse_no_file(file, expected="a whole .nii or .nii.gz file", advice="remove it, or copy the image there")


def _refuse_empty(size: int, file: Path) -> None:
    if not size:
        told = fault("the file is empty", file=file, expected="a whole .nii or .nii.gz file", advice="copy it again")
        raise WardroundError(Reason.DATA_UNREADABLE, told)
