"""What a scanner does to an ideal image: intensity curve, bias field, blur, thick slices, noise and gain."""

import numpy as np
from scipy import ndimage

from wardround.workloads.brain_tumor.synth.fields import Volume, smooth_field
from wardround.workloads.brain_tumor.synth.hospitals import HospitalSettings


def acquire(generator: np.random.Generator, settings: HospitalSettings, images: Volume, brain: np.ndarray) -> Volume:
    """The images [sequences, X, Y, Z] as this hospital's scanner gives them, in its units, zero outside the brain.

    Noise is Rician: the magnitude of a complex signal with Gaussian noise in both parts
    (Gudbjartsson and Patz 1995).
    """
    size = images.shape[-1]
    acquired = np.empty_like(images)
    for channel, ideal in enumerate(images):
        textured = ideal * (1 + 0.04 * smooth_field(generator, size, size // 3))
        curved = np.clip(textured, 0.01, None) ** settings.gamma[channel]
        biased = curved * np.exp(settings.bias_field * smooth_field(generator, size, 3, order=3))
        blurred = ndimage.gaussian_filter(biased, settings.blur_voxels)
        sliced = _thick_slices(blurred, settings.slice_factor)
        noise = settings.noise * generator.standard_normal((2, *sliced.shape)).astype(np.float32)
        acquired[channel] = np.hypot(sliced + noise[0], noise[1])
    return settings.gain * acquired * brain


def _thick_slices(volume: Volume, factor: int) -> Volume:
    if factor == 1:
        return volume
    size = volume.shape[2]
    slices = ndimage.uniform_filter1d(volume, factor, axis=2)[:, :, factor // 2 :: factor]
    restored: Volume = ndimage.zoom(slices, (1, 1, size / slices.shape[2]), order=1, mode="nearest", grid_mode=True)
    return restored[:, :, :size]
