"""One generated case: four sequences and their label map."""

import numpy as np

from wardround.workloads.brain_tumor.synth.anatomy import draw_anatomy
from wardround.workloads.brain_tumor.synth.appearance import draw_appearance
from wardround.workloads.brain_tumor.synth.fields import Volume, coordinates
from wardround.workloads.brain_tumor.synth.hospitals import HospitalSettings, case_generator, has_enhancing
from wardround.workloads.brain_tumor.synth.lesion import draw_lesion
from wardround.workloads.brain_tumor.synth.scanner import acquire

SMALLEST_SIZE = 12  # below it the folds and texture have no cells to be drawn from


def make_case(settings: HospitalSettings, seed: int, index: int, size: int) -> tuple[Volume, np.ndarray]:
    """Draws a case; about 0.3 CPU-seconds at 48 voxels a side.

    Args:
        settings: the hospital.
        seed: of the study's data.
        index: the case's place in the hospital; (seed, hospital's name, index) decide every voxel.
        size: voxels a side.

    Returns:
        Images float32 [4 (t1n, t1c, t2w, t2f), size, size, size] in scanner units, zero outside the brain, and the
        label uint8 [size, size, size]: 1 necrosis, 2 edema, 3 enhancing tumor (may be absent).
    """
    if size < SMALLEST_SIZE:
        raise ValueError(f"size: expected {SMALLEST_SIZE} voxels a side or more, found {size}")
    generator = case_generator(settings, seed, index)
    grid = coordinates(size)
    anatomy = draw_anatomy(generator, grid)
    lesion = draw_lesion(generator, settings, anatomy, grid, enhancing=has_enhancing(settings, seed, index))
    ideal = draw_appearance(generator, settings, anatomy, lesion, grid)
    return acquire(generator, settings, ideal, anatomy.brain), lesion.label()
