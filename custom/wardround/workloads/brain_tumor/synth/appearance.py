"""How tissue looks on each sequence before the scanner spoils it, and what looks like tumor but is none."""

import numpy as np
from scipy import ndimage

from wardround.workloads.brain_tumor.synth.anatomy import Anatomy
from wardround.workloads.brain_tumor.synth.fields import Coordinates, Volume
from wardround.workloads.brain_tumor.synth.hospitals import HospitalSettings
from wardround.workloads.brain_tumor.synth.lesion import Lesion

# relative intensities; white matter on T1 is 1
#          fluid  gray  white necrosis edema enhancing
_INTENSITY = np.array(
    [
        [0.30, 0.70, 1.00, 0.45, 0.68, 0.72],  # t1n
        [0.30, 0.70, 1.00, 0.50, 0.70, 1.45],  # t1c
        [1.60, 0.85, 0.65, 1.35, 1.25, 1.00],  # t2w
        [0.30, 0.85, 0.70, 0.80, 1.40, 1.15],  # t2f
    ],
    np.float32,
)
_FLUID, _GRAY, _WHITE, _NECROSIS, _EDEMA, _ENHANCING = range(6)
_T1N, _T1C, _T2W, _T2F = range(4)


def draw_appearance(
    generator: np.random.Generator, settings: HospitalSettings, anatomy: Anatomy, lesion: Lesion, grid: Coordinates
) -> Volume:
    """Ideal images [4 sequences (t1n, t1c, t2w, t2f), X, Y, Z]: tissue mixed with the lesion's soft-edged parts."""
    intensity = _draw_intensity(generator, settings)
    parts = np.stack(
        [ndimage.gaussian_filter(m.astype(np.float32), 0.6) for m in (lesion.necrosis, lesion.edema, lesion.enhancing)]
    )
    tissue = np.stack([anatomy.fluid, anatomy.gray, anatomy.white]) * (1 - np.clip(parts.sum(0), 0, 1))
    images: Volume = np.tensordot(intensity, np.concatenate([tissue, parts]), axes=1).astype(np.float32)
    _add_white_matter_spots(generator, settings, anatomy, grid, images)
    _add_vessels(generator, settings, grid, images)
    return images


def _draw_intensity(generator: np.random.Generator, settings: HospitalSettings) -> np.ndarray:
    intensity = _INTENSITY.copy()
    white = intensity[:, _WHITE]
    t1 = slice(_T1N, _T1C + 1)
    intensity[t1, _GRAY] = white[t1] + (intensity[t1, _GRAY] - white[t1]) * settings.gray_white_contrast
    contrasts = {
        _NECROSIS: settings.necrosis_contrast,
        _EDEMA: settings.edema_contrast,
        _ENHANCING: settings.enhancing_contrast,
    }
    for tissue, contrast in contrasts.items():
        intensity[:, tissue] = white + (intensity[:, tissue] - white) * contrast * generator.uniform(0.8, 1.15)
    intensity *= 1 + 0.05 * generator.standard_normal(intensity.shape)
    return intensity


def _add_white_matter_spots(
    generator: np.random.Generator, settings: HospitalSettings, anatomy: Anatomy, grid: Coordinates, images: Volume
) -> None:
    low, high = settings.white_matter_spots
    for _ in range(generator.integers(low, high + 1)):
        center, width = generator.uniform(-0.55, 0.55, 3), generator.uniform(0.03, 0.09)
        squared = sum((x - c) ** 2 for x, c in zip(grid, center, strict=True))
        spot = np.exp(-squared / (2 * width**2)) * (anatomy.radius < 0.8)
        images[_T2F] += 0.6 * settings.edema_contrast * spot
        images[_T2W] += 0.35 * settings.edema_contrast * spot


def _add_vessels(generator: np.random.Generator, settings: HospitalSettings, grid: Coordinates, images: Volume) -> None:
    low, high = settings.vessels
    for _ in range(generator.integers(low, high + 1)):
        point, direction = generator.uniform(-0.7, 0.7, 3), generator.standard_normal(3)
        direction /= np.linalg.norm(direction)
        offset = [x - p for x, p in zip(grid, point, strict=True)]
        along = sum(o * d for o, d in zip(offset, direction, strict=True))
        across_squared = sum(o**2 for o in offset) - along**2
        images[_T1C] += 0.7 * np.exp(-across_squared / (2 * 0.025**2)) * (np.abs(along) < 0.3)
