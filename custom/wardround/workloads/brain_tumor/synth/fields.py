"""Coordinates and smooth random fields that anatomy, lesions and scanner share."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

Volume = NDArray[np.floating]
Mask = NDArray[np.bool_]
Coordinates = tuple[Volume, Volume, Volume]


def coordinates(size: int) -> Coordinates:
    """Sparse x, y, z from -1 to 1 over a cube of `size` voxels a side; they broadcast to the full volume."""
    axis = np.linspace(-1, 1, size, dtype=np.float32)
    x, y, z = np.meshgrid(axis, axis, axis, indexing="ij", sparse=True)
    return x, y, z


def ellipsoid_radius(grid: Coordinates, center: Iterable[float], half_axes: Iterable[float]) -> Volume:
    """sqrt(sum_i ((x_i - center_i) / half_axis_i)^2): below 1 inside the ellipsoid."""
    squares = [((x - float(c)) / float(a)) ** 2 for x, c, a in zip(grid, center, half_axes, strict=True)]
    radius: Volume = np.sqrt(squares[0] + squares[1] + squares[2])
    return radius


def smooth_field(generator: np.random.Generator, size: int, cells: int, *, order: int = 1) -> Volume:
    """A smooth random field of about unit variance: cells^3 white noise, spline-interpolated to size^3."""
    noise = generator.standard_normal((cells, cells, cells)).astype(np.float32)
    field: Volume = ndimage.zoom(noise, size / cells, order=order, mode="nearest", grid_mode=True)
    return field[:size, :size, :size]


def soft_step(value: Volume) -> Volume:
    """The logistic function: a mask with a soft edge."""
    step: Volume = 1 / (1 + np.exp(-np.clip(value, -20, 20)))
    return step
