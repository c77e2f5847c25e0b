import pytest

from support.made_cases import ids, made_hospital, opened, write_case
from wardround.records.reasons import Reason


@pytest.fixture
def folder(tmp_path):
    return made_hospital(tmp_path / "data")


def test_a_patients_images_under_a_further_timepoint_are_doubted_and_used(folder):
    write_case(folder, "P-2-001", seed=2)
    data = opened(folder, split={"train": ["P-1", "P-2"], "validation": ["P-3"], "test": ["P-4"]})
    (told,) = data.findings.warnings
    assert (told.kind, told.where.case, told.count) == (Reason.CASE_DUPLICATED, "P-2-001", 0)
    assert "P-2-001" in ids(data, "train")
    assert data.counts["left_out"] == 0


def test_one_sequence_or_a_label_of_another_case_is_doubted_by_file(folder):
    for part in ("t1c", "seg"):
        (folder / "P-3-000" / f"P-3-000-{part}.nii.gz").write_bytes(
            (folder / "P-1-000" / f"P-1-000-{part}.nii.gz").read_bytes()
        )
    told = opened(folder).findings.warnings
    assert {(one.kind, one.where.file.rpartition("/")[2], one.count) for one in told} == {
        (Reason.VOLUME_DUPLICATED, "P-3-000-t1c.nii.gz", 0),
        (Reason.VOLUME_DUPLICATED, "P-3-000-seg.nii.gz", 0),
    }
    assert "the same voxels as t1c of P-1-000" in told[0].found
