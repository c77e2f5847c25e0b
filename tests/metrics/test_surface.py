import math

import pytest
import torch
from monai.metrics import HausdorffDistanceMetric

from wardround.metrics.surface import brats_hd95_mm, diagonal_mm, hd95_mm

SPACING = (1.0, 2.0, 3.0)


def _box(low: int, high: int, size: int = 16) -> torch.Tensor:
    mask = torch.zeros(size, size, size, dtype=torch.bool)
    mask[low:high, low:high, low:high] = True
    return mask


EMPTY = torch.zeros(16, 16, 16, dtype=torch.bool)


@pytest.mark.parametrize(("axis", "millimeters"), [(0, 2.0), (1, 4.0), (2, 6.0)])
def test_a_shifted_cube_is_as_far_as_its_shift_in_millimeters(axis, millimeters):
    cube = _box(4, 9)
    assert hd95_mm(cube.roll(2, axis), cube, SPACING) == pytest.approx(millimeters)


@pytest.mark.filterwarnings("ignore::FutureWarning")  # MONAI 1.6 calls its own deprecated argument
def test_equals_monai_on_every_channel_the_tumor_core_too():
    """MONAI's default `include_background=False` drops channel 0, which is TC here."""
    generator = torch.Generator().manual_seed(1)
    prediction, reference = (torch.rand(2, 1, 3, 12, 12, 12, generator=generator) > 0.97).unbind()
    metric = HausdorffDistanceMetric(include_background=True, percentile=95, reduction="none")
    expected = metric(prediction.float(), reference.float(), spacing=list(SPACING))[0]
    ours = [hd95_mm(p, r, SPACING) for p, r in zip(prediction[0], reference[0], strict=True)]
    assert ours == pytest.approx(expected.tolist())
    assert len(ours) == 3


def test_a_missed_lesion_costs_the_diagonal_and_is_not_dropped():
    assert hd95_mm(EMPTY, _box(4, 9), SPACING) == pytest.approx(math.sqrt(16**2 + 32**2 + 48**2))


def test_an_empty_reference_has_no_distance():
    assert hd95_mm(EMPTY, EMPTY, SPACING) is None
    assert hd95_mm(_box(4, 9), EMPTY, SPACING) is None


def test_the_brats_convention_stands_beside_ours():
    cube = _box(4, 9)
    assert brats_hd95_mm(EMPTY, EMPTY, SPACING) == 0.0
    assert brats_hd95_mm(cube, EMPTY, SPACING) == 373.13
    assert brats_hd95_mm(EMPTY, cube, SPACING) == 373.13
    assert brats_hd95_mm(cube.roll(2, 0), cube, SPACING) == pytest.approx(2.0)


def test_the_brats_penalty_is_the_diagonal_of_its_volume():
    assert diagonal_mm((240, 240, 155), (1.0, 1.0, 1.0)) == pytest.approx(373.13, abs=0.005)
