import pytest
import torch
from monai.losses import DiceCELoss

from wardround.workloads.brain_tumor.loss import DiceAndBinaryCrossEntropy


def _enhancing_voxels() -> torch.Tensor:
    """Nested regions: a cube of enhancing tumor is TC, WT and ET at once."""
    target = torch.zeros(1, 3, 8, 8, 8)
    target[:, :, 2:5, 2:5, 2:5] = 1
    return target


def test_perfect_logits_cost_nothing_where_regions_are_nested():
    target = _enhancing_voxels()
    logits = 20 * (2 * target - 1)
    assert DiceAndBinaryCrossEntropy()(logits, target).item() < 1e-4


def test_monais_dice_ce_would_charge_for_perfect_logits():
    """Why this loss is our own two lines: DiceCELoss' cross-entropy is a softmax over TC, WT, ET."""
    target = torch.ones(1, 3, 4, 4, 4)
    logits = 20 * (2 * target - 1)
    assert DiceCELoss(sigmoid=True)(logits, target).item() > 3
    assert DiceAndBinaryCrossEntropy()(logits, target).item() < 1e-4


def test_calling_everything_whole_tumor_is_expensive():
    target = _enhancing_voxels()
    logits = torch.full_like(target, -20.0)
    logits[:, 1] = 20
    assert DiceAndBinaryCrossEntropy()(logits, target).item() > 1


def test_closed_form():
    logits, target = torch.zeros(1, 3, 2, 2, 2), torch.zeros(1, 3, 2, 2, 2)
    target[..., 0] = 1  # half of 8 voxels: dice = (2 * 2 + s) / (4 + 4 + s) with MONAI's smoothing s = 1e-5
    expected = 1 - (4 + 1e-5) / (8 + 1e-5) + torch.log(torch.tensor(2.0)).item()
    assert DiceAndBinaryCrossEntropy()(logits, target).item() == pytest.approx(expected, rel=1e-5)


def test_takes_integer_labels():
    target = _enhancing_voxels()
    loss = DiceAndBinaryCrossEntropy()
    assert loss(torch.zeros_like(target), target.to(torch.uint8)) == loss(torch.zeros_like(target), target)
