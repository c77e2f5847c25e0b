from dataclasses import replace

import numpy as np
import pytest

from wardround.workloads.brain_tumor.synth.case import make_case
from wardround.workloads.brain_tumor.synth.hospitals import HOSPITALS, has_enhancing

BASE = HOSPITALS["hospital-a"]
SIZE = 24


def test_a_case_is_a_function_of_seed_hospital_and_place():
    images, label = make_case(BASE, 0, 0, SIZE)
    again, label_again = make_case(BASE, 0, 0, SIZE)
    assert np.array_equal(images, again)
    assert np.array_equal(label, label_again)
    for settings, seed, index in [(BASE, 1, 0), (BASE, 0, 1), (replace(BASE, name="hospital-x"), 0, 0)]:
        assert not np.array_equal(images, make_case(settings, seed, index, SIZE)[0])


def test_images_are_skull_stripped_and_labels_are_brats_2023():
    for index in range(4):
        images, label = make_case(HOSPITALS["hospital-c"], 0, index, SIZE)
        assert images.shape == (4, SIZE, SIZE, SIZE)
        assert images.dtype == np.float32
        assert label.dtype == np.uint8
        background = (images == 0).all(0)
        assert background[0, 0, 0]
        assert 0.5 < background.mean() < 0.9
        assert not label[background].any()
        assert set(np.unique(label)) <= {0, 1, 2, 3}
        assert (label == 2).any()


def test_the_share_without_enhancing_tumor_is_kept():
    never, always = (replace(BASE, no_enhancing_share=share) for share in (0.0, 1.0))
    assert not any((make_case(always, 0, index, SIZE)[1] == 3).any() for index in range(4))
    assert any((make_case(never, 0, index, SIZE)[1] == 3).any() for index in range(4))


def test_every_small_split_of_a_hospital_with_a_quarter_has_an_empty_case():
    quarter = HOSPITALS["hospital-b"]
    for seed in range(5):
        empty = [not has_enhancing(quarter, seed, index) for index in range(40)]
        assert 9 <= sum(empty) <= 11
        assert all(any(empty[first : first + 8]) for first in range(32))


def test_each_setting_of_the_scanner_shows():
    reference = make_case(BASE, 0, 0, SIZE)[0]
    inside = reference[0] > 0
    for change in (
        {"noise": 0.2},
        {"bias_field": 0.5},
        {"blur_voxels": (1.0, 1.0, 1.0)},
        {"gamma": (2.0, 2.0, 2.0, 2.0)},
        {"gray_white_contrast": -0.5},
    ):
        changed = make_case(replace(BASE, **change), 0, 0, SIZE)[0]
        assert np.abs(changed - reference)[0][inside].mean() > 0.02 * reference[0][inside].mean(), change
    assert make_case(replace(BASE, gain=1200.0), 0, 0, SIZE)[0] == pytest.approx(2 * reference, rel=1e-5)


def test_too_small_a_volume_is_refused():
    with pytest.raises(ValueError, match="12"):
        make_case(BASE, 0, 0, 8)
