"""From a prepared case's grid back to the grid and affine of the hospital's file."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

import nibabel as nib
import numpy as np
import torch
from monai.data import MetaTensor
from monai.transforms import SpatialResample
from numpy.typing import NDArray

from wardround.records.files import whole_file
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.geometry import unoriented
from wardround.workloads.brain_tumor.labels import from_regions
from wardround.workloads.brain_tumor.settings import LabelConvention

Shape = tuple[int, int, int]
Padding = tuple[tuple[int, int], tuple[int, int], tuple[int, int]]


@dataclass(frozen=True)
class CaseGrid:
    """The grids that a case went through: input, oriented, resampled, cropped (from `start`, of `shape`), padded."""

    input_shape: Shape
    input_affine: NDArray[np.float64]
    oriented_shape: Shape
    oriented_affine: NDArray[np.float64]
    orientation: str
    resampled_shape: Shape
    resampled_affine: NDArray[np.float64]
    start: Shape
    shape: Shape
    padding: Padding

    def padded_to(self, least: Shape) -> Self:
        """The same grid with zeros on both sides where it is smaller than `least`."""
        lacks = [max(0, side - have) for side, have in zip(least, self.shape, strict=True)]
        x, y, z = ((lack // 2, lack - lack // 2) for lack in lacks)
        return replace(self, padding=(x, y, z))

    def to_plain(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in asdict(self).items()}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Self:
        """Undoes `to_plain`."""
        fields: dict[str, Any] = {
            key: np.asarray(value, dtype=np.float64) if key.endswith("affine") else _tuples(value)
            for key, value in plain.items()
        }
        return cls(**fields)


def restore_regions(regions: NDArray | torch.Tensor, grid: CaseGrid) -> NDArray[np.bool_]:
    """Maps regions on a prepared case's grid onto the input file's grid.

    Args:
        regions: [3, X, Y, Z], truth values or probabilities; probabilities are resampled before the cut at 0.5.
        grid: the prepared case's grid, with its padding.

    Returns:
        [3, *grid.input_shape], true inside.
    """
    values = np.asarray(torch.as_tensor(regions).cpu(), dtype=np.float32)
    expected = tuple(side + sum(pad) for side, pad in zip(grid.shape, grid.padding, strict=True))
    if values.shape != (3, *expected):
        raise ValueError(f"regions: expected shape {(3, *expected)}, found {values.shape}")
    inside = tuple(slice(pad[0], pad[0] + side) for side, pad in zip(grid.shape, grid.padding, strict=True))
    box = tuple(slice(low, low + side) for low, side in zip(grid.start, grid.shape, strict=True))
    whole = np.zeros((3, *grid.resampled_shape), np.float32)
    whole[(slice(None), *box)] = values[(slice(None), *inside)]
    if grid.resampled_shape != grid.oriented_shape or not np.array_equal(grid.resampled_affine, grid.oriented_affine):
        back = SpatialResample(mode="bilinear", padding_mode="border")(
            MetaTensor(torch.from_numpy(whole), affine=torch.from_numpy(grid.resampled_affine)),
            dst_affine=torch.from_numpy(grid.oriented_affine),
            spatial_size=grid.oriented_shape,
        )
        whole = back.as_tensor().numpy()
    return np.stack([unoriented(region, grid.input_affine, grid.orientation) for region in whole >= 0.5])


def restore_labels(regions: NDArray | torch.Tensor, grid: CaseGrid, convention: LabelConvention) -> NDArray[np.uint8]:
    """Regions [3, X, Y, Z] of a prepared case as label values on the input's grid, in a site's own convention."""
    return from_regions(restore_regions(regions, grid), convention)


def save_labels(file: Path, labels: NDArray[np.uint8], grid: CaseGrid) -> None:
    """Writes label values with the input's affine; the file appears whole or not at all, for its owner alone.

    Raises:
        WardroundError: the name does not end in .nii.gz or .nii.
    """
    if not file.name.endswith((".nii.gz", ".nii")):
        raise WardroundError(Reason.CONFIGURATION_INVALID, f"{file}: expected a name that ends in .nii.gz or .nii")
    image = nib.Nifti1Image(labels, grid.input_affine)
    image.header.set_xyzt_units("mm")
    image.set_qform(grid.input_affine, code=1)
    image.set_sform(grid.input_affine, code=1)
    if not np.allclose(image.header.get_qform(), grid.input_affine, atol=1e-3):
        image.header["qform_code"] = 0  # a sheared affine has no quaternion: a reader must take the sform
    with whole_file(file, private=True) as unfinished:
        nib.save(image, unfinished)


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
