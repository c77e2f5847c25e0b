import numpy as np
import pytest
import torch

from support.made_cases import SETTINGS, site, write_case
from wardround.workloads.brain_tumor.augment import crop_start, plain_batch, training_batch
from wardround.workloads.brain_tumor.prepared import PreparedCase, read_case
from wardround.workloads.brain_tumor.settings import Augmentation, Patch

NONE = Augmentation(flip=False, scale=0, shift=0)
PATCH = Patch(size=(8, 8, 8))


def _case(seed: int = 0, shape: tuple[int, int, int] = (12, 13, 14)) -> PreparedCase:
    """Channel 0 holds each voxel's own number from 1, so that a crop says where it came from."""
    numbers = np.arange(1, np.prod(shape) + 1, dtype=np.float32).reshape(shape)
    label = np.zeros((3, *shape), np.uint8)
    label[1:, 2:4, 9:11, 5:7] = 1
    foreground = np.argwhere(label[1]).astype(np.int32)
    zeros = np.where(numbers % 3 == 0, 0, numbers % 7 - 10).astype(np.float32)
    return PreparedCase(f"c{seed}", f"p{seed}", np.stack([numbers, zeros]), label, foreground, (1, 1, 1), (), None)


def _generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def _is_a_crop(crop: np.ndarray, volume: np.ndarray) -> bool:
    corner = np.argwhere(volume == crop[0, 0, 0])[0]
    return np.array_equal(volume[tuple(slice(a, a + b) for a, b in zip(corner, crop.shape, strict=True))], crop)


def test_image_and_target_are_the_same_crop():
    case = _case()
    for _ in range(20):
        image, target = training_batch([case, case], PATCH, NONE, _generator(_))
        assert image.shape == (2, 2, 8, 8, 8)
        assert target.shape == (2, 3, 8, 8, 8)
        assert image.dtype == target.dtype == torch.float32
        for one, truth in zip(image.numpy(), target.numpy(), strict=True):
            assert _is_a_crop(one[0], case.image[0])
            expected = np.isin(one[0], case.image[0][case.label[1] > 0])
            np.testing.assert_array_equal(truth[1], expected)


def test_flips_turn_image_and_target_together():
    case = _case()
    flips = Augmentation(flip=True, scale=0, shift=0)
    seen = set()
    for seed in range(60):
        image, target = training_batch([case], PATCH, flips, _generator(seed))
        one = image[0, 0].numpy()
        expected = np.isin(one, case.image[0][case.label[1] > 0])
        np.testing.assert_array_equal(target[0, 1].numpy(), expected)
        turn = tuple(bool(np.diff(one, axis=axis).ravel()[0] < 0) for axis in range(3))
        assert _is_a_crop(one[tuple(slice(None, None, -1 if back else 1) for back in turn)], case.image[0])
        seen.add(turn)
    assert len(seen) == 8


def test_jitter_scales_and_shifts_each_channel_but_leaves_the_background_at_zero():
    case = _case()
    plain, _ = training_batch([case], PATCH, NONE, _generator(1))
    changed, _ = training_batch([case], PATCH, Augmentation(flip=False, scale=0.2, shift=0.5), _generator(1))
    assert torch.equal(changed[0, 1] == 0, plain[0, 1] == 0)
    slopes = []
    for x, y in zip(plain[0], changed[0], strict=True):
        inside = x != 0
        slope, shift = np.polyfit(x[inside].numpy(), y[inside].numpy(), 1)
        assert 0.8 <= slope <= 1.2
        assert 0 < abs(shift) <= 0.501
        np.testing.assert_allclose(y[inside], slope * x[inside] + shift, rtol=1e-4)
        slopes.append(slope)
    assert slopes[0] != pytest.approx(slopes[1], abs=1e-4)


def test_the_cases_themselves_are_never_changed():
    case = _case()
    before = case.image.copy()
    training_batch([case], Patch(size=(12, 13, 14)), Augmentation(), _generator())
    np.testing.assert_array_equal(case.image, before)


def test_a_share_of_crops_lies_near_tumor():
    case = _case(shape=(40, 40, 40))
    near = Patch(size=(8, 8, 8), tumor_share=1)
    hits = [bool(training_batch([case], near, NONE, _generator(s))[1].any()) for s in range(40)]
    assert all(hits)
    anywhere = Patch(size=(8, 8, 8), tumor_share=0)
    assert sum(bool(training_batch([case], anywhere, NONE, _generator(s))[1].any()) for s in range(40)) < 20


def test_crops_reach_both_edges_and_never_leave_the_volume():
    empty = np.zeros((0, 3), np.int32)
    draws = torch.rand(500, 5, generator=_generator()).tolist()
    starts = np.array([crop_start((12, 8, 9), PATCH, empty, draw) for draw in draws])
    assert starts.min(0).tolist() == [0, 0, 0]
    assert starts.max(0).tolist() == [4, 0, 1]
    corner = np.array([[11, 7, 8]], np.int32)
    near = Patch(size=(8, 8, 8), tumor_share=1)
    assert {crop_start((12, 8, 9), near, corner, draw) for draw in draws} <= {(x, 0, 1) for x in range(5)}


def test_one_seed_gives_the_same_batches():
    cases = [_case(0), _case(1)]
    first = training_batch(cases, PATCH, Augmentation(), _generator(5))
    again = training_batch(cases, PATCH, Augmentation(), _generator(5))
    other = training_batch(cases, PATCH, Augmentation(), _generator(6))
    assert torch.equal(first[0], again[0])
    assert torch.equal(first[1], again[1])
    assert not torch.equal(first[0], other[0])


def test_a_plain_crop_needs_no_label_and_changes_nothing(tmp_path):
    folder = write_case(tmp_path, with_label=False)
    case = read_case(folder, SETTINGS, site(tmp_path))
    assert case.label is None
    batch = plain_batch([case, case], (8, 8, 8), _generator())
    assert batch.shape == (2, 4, 8, 8, 8)
    found = np.lib.stride_tricks.sliding_window_view(case.image[0], (8, 8, 8)).reshape(-1, 8, 8, 8)
    assert (found == batch[0, 0].numpy()).all((1, 2, 3)).any()
