import json

import pytest

from support.made_cases import write_msd
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.msd import read_dataset


def _change(folder, **changes):
    file = folder / "dataset.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def test_cases_and_channel_names_are_read_in_order(tmp_path):
    dataset = read_dataset(write_msd(tmp_path, {"BRATS_001": 1}), "msd")
    assert dataset.channels == ("FLAIR", "T1w", "T1gd", "T2w")
    assert dataset.training == (
        (tmp_path / "imagesTr" / "BRATS_001.nii.gz", tmp_path / "labelsTr" / "BRATS_001.nii.gz"),
    )


def test_label_names_that_contradict_the_declared_convention_are_refused(tmp_path):
    write_msd(tmp_path, {"BRATS_001": 1})
    with pytest.raises(WardroundError, match="edema is 1, but convention brats2023 has it as 2") as raised:
        read_dataset(tmp_path, "brats2023")
    assert raised.value.code is Reason.LABEL_AMBIGUOUS


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"modality": {"0": "FLAIR", "2": "T1w"}}, Reason.SEQUENCE_AMBIGUOUS),
        ({"modality": {"0": "FLAIR", "1": "flair"}}, Reason.SEQUENCE_AMBIGUOUS),
        ({"modality": None}, Reason.DATA_UNREADABLE),
        ({"modality": {"first": "FLAIR"}}, Reason.DATA_UNREADABLE),
        ({"training": [{"label": "x"}]}, Reason.DATA_UNREADABLE),
        ({"training": 7}, Reason.DATA_UNREADABLE),
    ],
)
def test_a_malformed_file_is_named(tmp_path, changes, code):
    write_msd(tmp_path, {"BRATS_001": 1})
    _change(tmp_path, **changes)
    with pytest.raises(WardroundError, match=r"dataset\.json") as raised:
        read_dataset(tmp_path, "msd")
    assert raised.value.code is code


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(WardroundError, match="layout msd needs it") as raised:
        read_dataset(tmp_path, "msd")
    assert raised.value.code is Reason.DATA_MISSING
