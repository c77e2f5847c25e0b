import numpy as np
import pytest

from support.made_cases import SETTINGS, made_brain, site, write_case, write_msd
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.grid import restore_labels
from wardround.workloads.brain_tumor.labels import to_regions
from wardround.workloads.brain_tumor.layouts import read_case_files
from wardround.workloads.brain_tumor.prepared import PreparedCase, read_case
from wardround.workloads.brain_tumor.preprocess import prepare
from wardround.workloads.brain_tumor.settings import BrainTumorSettings

LARGE = BrainTumorSettings.model_validate({"patch": {"size": [32, 16, 24]}})


def test_a_case_for_prediction_needs_no_label_and_no_readable_one(tmp_path):
    folder = write_case(tmp_path)
    (folder / "BraTS-GLI-00001-000-seg.nii.gz").write_bytes(b"broken")
    case = read_case(folder, SETTINGS, site(tmp_path))
    assert (case.case, case.patient, case.label) == ("BraTS-GLI-00001-000", "BraTS-GLI-00001", None)
    assert case.image.shape[0] == 4
    assert case.spacing_mm == (1, 1, 1)


def test_prediction_refuses_a_missing_sequence(tmp_path):
    folder = write_case(tmp_path)
    (folder / "BraTS-GLI-00001-000-t2f.nii.gz").unlink()
    with pytest.raises(WardroundError) as raised:
        read_case(folder, SETTINGS, site(tmp_path))
    assert raised.value.code is Reason.SEQUENCE_MISSING
    assert read_case(folder, SETTINGS, site(tmp_path, allow_missing=["t2f"])).missing == ("t2f",)


def test_a_brain_smaller_than_the_patch_is_padded_and_comes_back(tmp_path):
    folder = write_case(tmp_path)
    chosen = site(tmp_path)
    files = read_case_files(folder, chosen, SETTINGS.contract.sequences)
    preparation = prepare(files, SETTINGS.contract, chosen)
    case = PreparedCase.of("c", "p", preparation, LARGE.patch.size, (1.0, 1.0, 1.0))
    assert all(have >= least for have, least in zip(case.image.shape[1:], LARGE.patch.size, strict=True))
    assert case.image.shape[1:] == case.label.shape[1:]
    assert case.label.sum() == preparation.label.sum()
    assert case.label[1][tuple(case.foreground.T)].all()
    np.testing.assert_array_equal(restore_labels(case.label, case.grid, "brats2023"), made_brain()[1])


def test_an_msd_prediction_comes_back_in_msds_own_values(tmp_path):
    write_msd(tmp_path, {"BRATS_001": 0})
    case = read_case(tmp_path / "imagesTr" / "BRATS_001.nii.gz", SETTINGS, site(tmp_path, "msd"))
    regions = to_regions(made_brain()[1], "brats2023", "x")
    box = tuple(slice(a, a + b) for a, b in zip(case.grid.start, case.grid.shape, strict=True))
    predicted = np.pad(regions[(slice(None), *box)], ((0, 0), *case.grid.padding))
    labels = restore_labels(predicted, case.grid, "msd")
    np.testing.assert_array_equal(labels, np.array([0, 2, 1, 3])[made_brain()[1]])
