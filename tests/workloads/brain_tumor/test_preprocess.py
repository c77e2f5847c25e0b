import nibabel as nib
import numpy as np
import pytest

from support.made_cases import SETTINGS, made_brain, site, write, write_case, write_msd
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.labels import to_regions
from wardround.workloads.brain_tumor.layouts import find_cases
from wardround.workloads.brain_tumor.preprocess import prepare
from wardround.workloads.brain_tumor.settings import SEQUENCES, ImageContract

CASE = "BraTS-GLI-00001-000"


def _prepare(folder, layout="brats2023", contract=SETTINGS.contract, **settings):
    chosen = site(folder, layout, **settings)
    (case,) = find_cases(chosen, contract.sequences).cases
    return prepare(case, contract, chosen)


def _refusal(folder, **settings):
    with pytest.raises(WardroundError) as raised:
        _prepare(folder, **settings)
    return raised.value


def test_the_brain_is_cropped_and_each_channel_z_scored_over_its_non_zero_voxels(tmp_path):
    write_case(tmp_path)
    result = _prepare(tmp_path)
    images, label = made_brain()
    occupied = np.stack(list(images.values())).any(0) | (label > 0)
    corner = np.argwhere(occupied)
    box = tuple(slice(low, high + 1) for low, high in zip(corner.min(0), corner.max(0), strict=True))
    assert result.image.dtype == np.float32
    assert result.image.shape[1:] == occupied[box].shape < label.shape
    for channel, sequence in zip(result.image, SEQUENCES, strict=True):
        raw = images[sequence][box].astype(np.float64)
        inside = raw != 0
        expected = np.where(inside, (raw - raw[inside].mean()) / raw[inside].std(), 0)
        np.testing.assert_allclose(channel, expected, atol=1e-4)
    np.testing.assert_array_equal(result.label, to_regions(label, "brats2023", "x")[(slice(None), *box)])
    assert len(result.foreground) == result.label[1].sum()
    assert result.label[1][tuple(result.foreground.T)].all()
    assert result.missing == ()


def test_every_layout_of_one_case_gives_the_same_tensors(tmp_path):
    write_case(tmp_path / "2018", "Brats18_A_1", layout="brats2018", seed=3)
    write_case(tmp_path / "2023", seed=3)
    write_msd(tmp_path / "msd", {"BRATS_001": 3})
    write_msd(tmp_path / "other", {"BRATS_001": 3}, channels=("T2w", "T1gd", "FLAIR", "T1w"))
    expected = _prepare(tmp_path / "2023")
    for folder, layout in (("2018", "brats2018"), ("msd", "msd"), ("other", "msd")):
        result = _prepare(tmp_path / folder, layout)
        np.testing.assert_array_equal(result.image, expected.image)
        np.testing.assert_array_equal(result.label, expected.label)
    assert not np.array_equal(expected.image[0], expected.image[1])


def test_an_lps_file_gives_the_same_tensors_as_a_ras_file(tmp_path):
    write_case(tmp_path / "ras")
    folder = write_case(tmp_path / "lps")
    for file in folder.iterdir():
        image = nib.load(file)
        data = np.asarray(image.dataobj)[::-1, ::-1]
        affine = np.array([[-1, 0, 0, 19], [0, -1, 0, 21], [0, 0, 1, 0], [0, 0, 0, 1.0]])
        write(file, data, affine)
    ras, lps = _prepare(tmp_path / "ras"), _prepare(tmp_path / "lps")
    np.testing.assert_array_equal(lps.image, ras.image)
    np.testing.assert_array_equal(lps.label, ras.label)


def test_orientation_comes_before_spacing(tmp_path):
    """A file whose first axis runs through thick slices: the contract's spacing is for the turned axes."""
    folder = write_case(tmp_path)
    for file in folder.iterdir():
        data = np.asarray(nib.load(file).dataobj)
        thick = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [2, 0, 0, 0], [0, 0, 0, 1.0]])  # axes S (2 mm), R, A
        write(file, np.moveaxis(data, 2, 0)[::2], thick)
    result = _prepare(tmp_path)
    assert result.grid.oriented_shape == (20, 22, 9)
    assert result.grid.resampled_shape == (20, 22, 17)
    kept = _prepare(tmp_path, contract=ImageContract(spacing_mm=(1, 1, 2)))
    assert kept.grid.resampled_shape == (20, 22, 9)
    assert set(np.unique(result.label)) == {0, 1}


def test_a_label_on_a_shifted_grid_is_refused(tmp_path):
    folder = write_case(tmp_path)
    shifted = np.eye(4)
    shifted[2, 3] = 1
    write(folder / f"{CASE}-seg.nii.gz", made_brain()[1], shifted)
    refusal = _refusal(tmp_path)
    assert refusal.code is Reason.GEOMETRY_INVALID
    assert f"{CASE}-seg.nii.gz" in str(refusal)


def test_an_unstripped_image_is_refused(tmp_path):
    folder = write_case(tmp_path)
    file = folder / f"{CASE}-t2w.nii.gz"
    write(file, np.asarray(nib.load(file).dataobj) + np.int16(3))
    refusal = _refusal(tmp_path)
    assert refusal.code is Reason.NOT_SKULL_STRIPPED
    assert str(file) in str(refusal)


def test_a_sequence_of_zeros_counts_as_missing(tmp_path):
    folder = write_case(tmp_path)
    write(folder / f"{CASE}-t2f.nii.gz", np.zeros((20, 22, 18), np.int16))
    assert _refusal(tmp_path).code is Reason.SEQUENCE_MISSING
    result = _prepare(tmp_path, allow_missing=["t2f"])
    assert result.missing == ("t2f",)
    assert not result.image[3].any()
    for file in folder.glob("*t[12][nwc].nii.gz"):
        write(file, np.zeros((20, 22, 18), np.int16))
    assert _refusal(tmp_path, allow_missing=list(SEQUENCES)).code is Reason.SEQUENCE_MISSING


def test_an_absent_sequence_that_may_be_missing_becomes_zeros_in_its_own_place(tmp_path):
    folder = write_case(tmp_path)
    whole = _prepare(tmp_path)
    (folder / f"{CASE}-t1n.nii.gz").unlink()
    result = _prepare(tmp_path, allow_missing=["t1n"])
    assert result.missing == ("t1n",)
    assert not result.image[0].any()
    np.testing.assert_array_equal(result.image[1:], whole.image[1:])


def test_min_max_divides_by_the_percentile_and_does_not_centre(tmp_path):
    write_case(tmp_path)
    result = _prepare(tmp_path, normalisation="min_max")
    assert result.image.min() == 0
    raw = made_brain()[0]["t1c"]
    assert result.image[1].max() == pytest.approx(raw.max() / np.percentile(raw, 99.5), rel=1e-5)


def test_channels_follow_the_contracts_order(tmp_path):
    write_case(tmp_path)
    both = _prepare(tmp_path, contract=ImageContract(sequences=("t2f", "t1c")))
    np.testing.assert_array_equal(both.image, _prepare(tmp_path).image[[3, 1]])
