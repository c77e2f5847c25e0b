"""A brain: an ellipsoid with folded gray matter, deep nuclei, ventricles and cerebrospinal fluid."""

from dataclasses import dataclass

import numpy as np

from wardround.workloads.brain_tumor.synth.fields import (
    Coordinates,
    Mask,
    Volume,
    ellipsoid_radius,
    smooth_field,
    soft_step,
)

_HALF_AXES = np.array([0.78, 0.92, 0.74])


@dataclass(frozen=True)
class Anatomy:
    """One healthy brain. All volumes are [size, size, size].

    Args:
        half_axes: of the brain's ellipsoid.
        radius: 0 at the center, 1 at the brain's surface.
        brain: what is left after skull-stripping.
        ventricles: 0 to 1.
        fluid, gray, white: shares of cerebrospinal fluid, gray and white matter.
    """

    half_axes: np.ndarray
    radius: Volume
    brain: Mask
    ventricles: Volume
    fluid: Volume
    gray: Volume
    white: Volume


def draw_anatomy(generator: np.random.Generator, grid: Coordinates) -> Anatomy:
    """Draws one brain."""
    size = grid[0].size
    half_axes = _HALF_AXES * generator.uniform(0.92, 1.05, 3)
    center = generator.uniform(-0.04, 0.04, 3)
    radius = ellipsoid_radius(grid, center, half_axes) + 0.03 * smooth_field(generator, size, 8)
    folds = smooth_field(generator, size, size // 4)
    cortex = soft_step((radius - 0.82 + 0.07 * folds) / 0.03)
    nuclei = _both_sides(grid, center=(0.22, 0.02, -0.02), half_axes=(0.12, 0.22, 0.14), edge=0.15)
    matter = np.clip(cortex + 0.8 * nuclei, 0, 1)
    width = generator.uniform(0.8, 1.5)
    ventricles = _both_sides(grid, center=(0.11, -0.03, 0.12), half_axes=(0.06 * width, 0.30, 0.10 * width), edge=0.2)
    fluid = np.clip(ventricles + soft_step((radius - 0.965 + 0.035 * folds) / 0.012), 0, 1)
    return Anatomy(
        half_axes=half_axes,
        radius=radius,
        brain=radius < 1,
        ventricles=ventricles,
        fluid=fluid,
        gray=matter * (1 - fluid),
        white=(1 - matter) * (1 - fluid),
    )


def _both_sides(grid: Coordinates, *, center: tuple, half_axes: tuple, edge: float) -> Volume:
    total: Volume = np.zeros((1, 1, 1), np.float32)
    for side in (-1, 1):
        inside = 1 - ellipsoid_radius(grid, (side * center[0], *center[1:]), half_axes)
        total = total + soft_step(inside / edge)
    return total
