"""One case, ready to train on, to score, or to predict."""

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from wardround.workloads.brain_tumor.grid import CaseGrid
from wardround.workloads.brain_tumor.layouts import read_case_files
from wardround.workloads.brain_tumor.preprocess import Preparation, prepare
from wardround.workloads.brain_tumor.settings import BrainTumorSettings, BrainTumorSiteSettings, Triple

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PreparedCase:
    """A preprocessed case, at least as large as the training patch.

    Args:
        case, patient: ids; they stay at the site.
        image: float32 [C, X, Y, Z], memory-mapped where it comes from the cache.
        label: uint8 [3, X, Y, Z] of TC, WT, ET; None where the case has none.
        foreground: int32 [n, 3], a sample of tumor voxels.
        spacing_mm: voxel sides.
        missing: sequences for which a zero channel stands in.
        grid: the way back to the input file's grid, for `restore_labels`.
    """

    case: str
    patient: str
    image: NDArray[np.float32]
    label: NDArray[np.uint8] | None
    foreground: NDArray[np.int32]
    spacing_mm: tuple[float, float, float]
    missing: tuple[str, ...]
    grid: CaseGrid

    @classmethod
    def of(
        cls, case: str, patient: str, preparation: Preparation, least: Triple, spacing_mm: tuple[float, float, float]
    ) -> Self:
        """Pads with zeros to `least` voxels where the brain is smaller; that copies the case into memory."""
        grid = preparation.grid.padded_to(least)
        image, label, foreground = preparation.image, preparation.label, preparation.foreground
        if any(sum(pad) for pad in grid.padding):
            image = np.pad(image, ((0, 0), *grid.padding))
            label = None if label is None else np.pad(label, ((0, 0), *grid.padding))
            foreground = foreground + np.array([low for low, _ in grid.padding], np.int32)
        return cls(case, patient, image, label, foreground, spacing_mm, preparation.missing, grid)


def read_case(path: Path, settings: BrainTumorSettings, site: BrainTumorSiteSettings) -> PreparedCase:
    """Reads one case for prediction, its label left alone.

    Args:
        path: the case's folder, or for MSD its 4D image.
        settings: the study's.
        site: how this hospital names its sequences; for MSD, `folder` holds the `dataset.json`.

    Raises:
        WardroundError: a sequence is missing, unreadable or breaks the image contract.
    """
    contract = settings.contract
    files = read_case_files(path, site, contract.sequences)
    preparation = prepare(files, contract, site, with_label=False)
    if preparation.missing:
        _log.warning("%s: zeros stand in for %s", files.case, ", ".join(preparation.missing))
    return PreparedCase.of(files.case, files.patient, preparation, settings.patch.size, contract.spacing_mm)
