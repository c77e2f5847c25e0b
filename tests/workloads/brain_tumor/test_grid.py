import json

import nibabel as nib
import numpy as np
import pytest

from support.made_cases import SETTINGS, made_brain, site, write, write_case
from wardround.records.reasons import WardroundError
from wardround.workloads.brain_tumor.grid import CaseGrid, restore_labels, save_labels
from wardround.workloads.brain_tumor.layouts import find_cases
from wardround.workloads.brain_tumor.preprocess import prepare

TURNED = np.array([[0, -1.0, 0, 40], [0, 0, 1, -7], [-1, 0, 0, 12], [0, 0, 0, 1]])


def _prepared(folder, layout="brats2023"):
    chosen = site(folder, layout)
    (case,) = find_cases(chosen, SETTINGS.contract.sequences).cases
    return prepare(case, SETTINGS.contract, chosen)


@pytest.mark.parametrize("layout", ["brats2018", "brats2023"])
@pytest.mark.parametrize("affine", [np.eye(4), TURNED])
def test_a_label_comes_back_voxel_by_voxel_in_the_sites_convention(tmp_path, layout, affine):
    folder = write_case(tmp_path, "x-001", layout=layout, affine=affine)
    stored = nib.load(next(folder.glob("*seg.nii.gz")))
    preparation = _prepared(tmp_path, layout)
    labels = restore_labels(preparation.label, preparation.grid, layout)
    np.testing.assert_array_equal(labels, np.asarray(stored.dataobj))
    save_labels(tmp_path / "out" / "p.nii.gz", labels, preparation.grid)
    saved = nib.load(tmp_path / "out" / "p.nii.gz")
    np.testing.assert_allclose(saved.affine, stored.affine)
    assert saved.get_data_dtype() == np.uint8
    np.testing.assert_array_equal(np.asarray(saved.dataobj), labels)
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["p.nii.gz"]


def test_resampled_regions_come_back_onto_thick_slices(tmp_path):
    folder = write_case(tmp_path)
    for file in folder.iterdir():
        write(file, np.asarray(nib.load(file).dataobj)[:, :, ::2], np.diag([1, 1, 2, 1.0]))
    preparation = _prepared(tmp_path)
    assert preparation.grid.resampled_shape != preparation.grid.oriented_shape
    labels = restore_labels(preparation.label, preparation.grid, "brats2023")
    expected = made_brain()[1][:, :, ::2]
    assert labels.shape == expected.shape
    for value in (1, 2, 3):
        both = ((labels == value) & (expected == value)).sum()
        assert 2 * both / ((labels == value).sum() + (expected == value).sum()) > 0.97


def test_padding_is_taken_off_again(tmp_path):
    write_case(tmp_path)
    preparation = _prepared(tmp_path)
    grid = preparation.grid.padded_to((32, 16, 19))
    assert grid.padding[1] == (0, 0)
    padded = np.pad(preparation.label, ((0, 0), *grid.padding))
    assert padded.shape[1] == 32
    assert padded.shape[3] == 19
    np.testing.assert_array_equal(restore_labels(padded, grid, "brats2023"), made_brain()[1])
    with pytest.raises(ValueError, match="expected shape"):
        restore_labels(preparation.label, grid, "brats2023")


def test_probabilities_are_cut_at_one_half(tmp_path):
    write_case(tmp_path)
    preparation = _prepared(tmp_path)
    probabilities = np.where(preparation.label, 0.51, 0.49).astype(np.float32)
    np.testing.assert_array_equal(restore_labels(probabilities, preparation.grid, "brats2023"), made_brain()[1])


def test_a_grid_survives_json(tmp_path):
    write_case(tmp_path, affine=TURNED)
    grid = _prepared(tmp_path).grid.padded_to((32, 32, 32))
    again = CaseGrid.from_plain(json.loads(json.dumps(grid.to_plain())))
    assert again.to_plain() == grid.to_plain()
    np.testing.assert_array_equal(again.input_affine, grid.input_affine)
    assert (again.padding, again.start, again.orientation) == (grid.padding, grid.start, "RAS")


def test_another_file_type_is_refused(tmp_path):
    write_case(tmp_path)
    with pytest.raises(WardroundError, match=r"ends in \.nii\.gz"):
        save_labels(tmp_path / "p.png", np.zeros((20, 22, 18), np.uint8), _prepared(tmp_path).grid)
