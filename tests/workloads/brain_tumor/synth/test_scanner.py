from dataclasses import replace

import numpy as np
import pytest

from wardround.workloads.brain_tumor.synth.hospitals import HOSPITALS
from wardround.workloads.brain_tumor.synth.scanner import acquire

SIZE = 24
CLEAN = replace(HOSPITALS["hospital-a"], noise=0.0, bias_field=0.0, blur_voxels=(0.0, 0.0, 0.0), gain=1.0)


def _acquire(images: np.ndarray, **changes: object) -> np.ndarray:
    brain = np.ones(images.shape[1:], bool)
    return acquire(np.random.default_rng(0), replace(CLEAN, **changes), images, brain)


def test_thick_slices_lose_detail_along_z_only():
    images = np.random.default_rng(1).uniform(1, 2, (1, SIZE, SIZE, SIZE)).astype(np.float32)
    roughness = np.array(
        [[np.abs(np.diff(_acquire(images, slice_factor=k)[0], axis=a)).mean() for a in range(3)] for k in (1, 3)]
    )
    kept = roughness[1] / roughness[0]
    assert kept[2] < 0.6 * kept[0]
    assert kept[0] == pytest.approx(kept[1], rel=0.05)


def test_noise_is_rician_so_it_lifts_what_is_dark():
    images = np.full((1, SIZE, SIZE, SIZE), 0.01, np.float32)
    assert _acquire(images, noise=0.1).mean() == pytest.approx(0.1 * np.sqrt(np.pi / 2), rel=0.05)


def test_outside_the_brain_is_zero():
    images = np.ones((2, SIZE, SIZE, SIZE), np.float32)
    brain = np.zeros((SIZE, SIZE, SIZE), bool)
    brain[4:9] = True
    acquired = acquire(np.random.default_rng(0), HOSPITALS["hospital-b"], images, brain)
    assert (acquired[:, ~brain] == 0).all()
    assert (acquired[:, brain] > 0).all()
