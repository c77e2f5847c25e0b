import pytest
import torch
from monai.metrics import DiceMetric

from wardround.metrics.dice import VoxelCounts, brats_dice, count_voxels, dice, false_positive_volume_ml


def _masks(seed: int = 0, cases: int = 4) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    shape = (cases, 3, 9, 8, 7)
    return torch.rand(shape, generator=generator) < 0.3, torch.rand(shape, generator=generator) < 0.4


def test_equals_monai_by_case_and_region():
    predictions, references = _masks()
    references[1, 2] = False
    expected = DiceMetric(include_background=True, reduction="none")(predictions.float(), references.float())
    for case, (prediction, reference) in enumerate(zip(predictions, references, strict=True)):
        for region, counts in enumerate(count_voxels(prediction, reference)):
            ours, monais = dice(counts), expected[case, region].item()
            assert (ours is None) == (monais != monais)
            if ours is not None:
                assert ours == pytest.approx(monais)


@pytest.mark.parametrize(
    ("predicted", "reference", "expected"),
    [
        pytest.param(0, 0, (None, 0.0, 1.0), id="both empty"),
        pytest.param(250, 0, (None, 0.5, 0.0), id="false alarm"),
        pytest.param(0, 40, (0.0, None, 0.0), id="missed"),
        pytest.param(40, 60, (0.6, None, 0.6), id="both there"),
    ],
)
def test_empty_regions_are_never_silently_zero_or_one(predicted, reference, expected):
    counts = VoxelCounts(both=30 if predicted and reference else 0, predicted=predicted, reference=reference)
    assert (dice(counts), false_positive_volume_ml(counts, voxel_mm3=2.0), brats_dice(counts)) == expected


def test_shapes_must_agree():
    prediction, reference = _masks()
    with pytest.raises(ValueError, match="differ in shape"):
        count_voxels(prediction[0], reference[0, :, :-1])
