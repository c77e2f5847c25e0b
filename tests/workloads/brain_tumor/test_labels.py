import numpy as np
import pytest

from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.labels import from_regions, to_regions


def _volume(*values: float, dtype: type = np.float32) -> np.ndarray:
    return np.array(values, dtype).reshape(len(values), 1, 1)


def _regions(values: np.ndarray, convention: str) -> list[list[int]]:
    return to_regions(values, convention, "seg.nii.gz").reshape(3, -1).tolist()


@pytest.mark.parametrize(
    ("convention", "values", "core", "whole", "enhancing"),
    [
        ("brats2018", (0, 1, 2, 4), [0, 1, 0, 1], [0, 1, 1, 1], [0, 0, 0, 1]),
        ("brats2023", (0, 1, 2, 3), [0, 1, 0, 1], [0, 1, 1, 1], [0, 0, 0, 1]),
        ("msd", (0, 1, 2, 3), [0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 0, 1]),
        ("brats2018", (0, 1, 2), [0, 1, 0], [0, 1, 1], [0, 0, 0]),
        ("msd", (0, 1, 2), [0, 0, 1], [0, 1, 1], [0, 0, 0]),
        ("brats2018", (0, 4), [0, 1], [0, 1], [0, 1]),
        ("brats2023", (0, 0), [0, 0], [0, 0], [0, 0]),
    ],
)
def test_values_mean_what_the_site_declares(convention, values, core, whole, enhancing):
    assert _regions(_volume(*values), convention) == [core, whole, enhancing]


@pytest.mark.parametrize(
    ("convention", "values", "told"),
    [
        ("brats2023", (0, 1, 2, 4), "fit brats2018"),
        ("msd", (0, 1, 2, 4), "fit brats2018"),
        ("brats2023", (0, 4), "fit brats2018"),
        ("brats2018", (0, 1, 2, 3), "fit brats2023 or msd"),
        ("brats2018", (0, 1, 2, 5), "0, 1, 2, 5"),
        ("brats2023", (0, 1, 2, 5), "0, 1, 2, 5"),
        ("msd", (-1, 0, 1), "-1, 0, 1"),
    ],
)
def test_values_outside_the_convention_are_refused_and_shown(convention, values, told):
    with pytest.raises(WardroundError) as raised:
        _regions(_volume(*values), convention)
    assert raised.value.code is Reason.LABEL_AMBIGUOUS
    assert told in str(raised.value)
    assert "seg.nii.gz" in str(raised.value)


def test_a_float_mask_is_rounded_within_the_tolerance():
    assert _regions(_volume(0.0001, 0.9999, 2.0, 2.9999), "brats2023") == _regions(_volume(0, 1, 2, 3), "brats2023")


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ((0, 255), "0, 255"),
        ((0, 0.5, 1), "0.5"),
        ((0, 1.02), "1.02"),
        ((0, np.nan), "NaN"),
        ((0, 0.3, 0.6), "0.3, 0.6"),
    ],
)
def test_other_masks_are_refused_with_their_values(values, told):
    with pytest.raises(WardroundError) as raised:
        _regions(_volume(*values), "brats2023")
    assert raised.value.code is Reason.MASK_INVALID
    assert told in str(raised.value)


@pytest.mark.parametrize(
    ("convention", "values"), [("brats2018", (0, 1, 2, 4)), ("brats2023", (0, 1, 2, 3)), ("msd", (0, 1, 2, 3))]
)
def test_regions_go_back_to_the_same_values(convention, values):
    labels = _volume(*values, dtype=np.uint8)
    back = from_regions(to_regions(labels, convention, "x"), convention)
    assert back.dtype == np.uint8
    np.testing.assert_array_equal(back, labels)


def test_regions_that_do_not_nest_are_completed_from_the_inside():
    core, whole, enhancing = [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]
    regions = np.array([core, whole, enhancing], bool).reshape(3, 4, 1, 1)
    assert from_regions(regions, "brats2018").ravel().tolist() == [0, 1, 2, 4]
