"""A tumor: edema around a core, and in the core a rim that enhances around what is necrotic."""

from dataclasses import dataclass

import numpy as np

from wardround.workloads.brain_tumor.synth.anatomy import Anatomy
from wardround.workloads.brain_tumor.synth.fields import Coordinates, Mask, ellipsoid_radius, smooth_field
from wardround.workloads.brain_tumor.synth.hospitals import HospitalSettings

NECROSIS, EDEMA, ENHANCING = 1, 2, 3  # BraTS 2023 label values
_FEWEST_ENHANCING_VOXELS = 8  # fewer would be drawn by nobody


@dataclass(frozen=True)
class Lesion:
    """Three masks that do not overlap, [size, size, size] each."""

    necrosis: Mask
    edema: Mask
    enhancing: Mask

    def label(self) -> np.ndarray:
        """The label map in BraTS 2023 values, uint8."""
        label: np.ndarray = NECROSIS * self.necrosis + EDEMA * self.edema + ENHANCING * self.enhancing
        return label.astype(np.uint8)


def draw_lesion(
    generator: np.random.Generator,
    settings: HospitalSettings,
    anatomy: Anatomy,
    grid: Coordinates,
    *,
    enhancing: bool,
) -> Lesion:
    """Draws one tumor inside the brain and outside the ventricles, its core with a rim if `enhancing`."""
    size = grid[0].size
    center = _draw_center(generator, anatomy)
    tumor_radius = generator.uniform(*settings.tumor_radius)
    shape = generator.uniform(0.8, 1.25, 3)
    irregular = smooth_field(generator, size, 7, order=3)
    distance = ellipsoid_radius(grid, center, tumor_radius * shape)
    whole = (distance + 0.22 * irregular < 1) & (anatomy.radius < 0.95) & (anatomy.ventricles < 0.5)
    core_radius = tumor_radius * generator.uniform(*settings.core_fraction)
    core_center = center + generator.uniform(-0.1, 0.1, 3) * tumor_radius
    core_distance = ellipsoid_radius(grid, core_center, core_radius * shape) + 0.12 * irregular
    core = (core_distance < 1) & whole
    rim = (core_distance > generator.uniform(0.35, 0.7)) & (smooth_field(generator, size, 6) > -1.0)
    enhances = core & rim & enhancing
    if enhances.sum() < _FEWEST_ENHANCING_VOXELS:
        enhances = np.zeros_like(enhances)
    return Lesion(necrosis=core & ~enhances, edema=whole & ~core, enhancing=enhances)


def _draw_center(generator: np.random.Generator, anatomy: Anatomy) -> np.ndarray:
    while True:
        center = generator.uniform(-0.6, 0.6, 3)
        depth = np.linalg.norm(center / anatomy.half_axes)
        if 0.15 < depth < 0.62 and abs(center[0]) > 0.12:
            return center
