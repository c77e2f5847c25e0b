import hashlib
import logging

import nibabel as nib
import numpy as np
import pytest
import torch

from support.made_cases import LISTS, ids, made_hospital, opened, write, write_case
from wardround.records.reasons import Reason, WardroundError
from wardround.site.config import load_site_config
from wardround.workloads.brain_tumor import prepare_cases
from wardround.workloads.brain_tumor.case_cache import cache_folder
from wardround.workloads.brain_tumor.preprocess import prepare
from wardround.workloads.brain_tumor.synth.writer import CaseCounts, write_hospitals
from wardround.workloads.brain_tumor.workload import make


def test_cases_are_split_by_patient_with_all_timepoints_together(tmp_path):
    folder = made_hospital(tmp_path / "data")
    write_case(folder, "P-4-001", seed=9)
    data = opened(folder, split=LISTS)
    assert ids(data, "train") == ["P-1-000", "P-2-000"]
    assert ids(data, "test") == ["P-4-000", "P-4-001"]
    counts = data.counts
    assert (counts["train_patients"], counts["train_cases"]) == (2, 2)
    assert (counts["test_patients"], counts["test_cases"]) == (1, 2)
    assert (counts["validation_cases"], counts["left_out"]) == (1, 0)
    by_hash = opened(folder)
    splits = {split: {case.patient for case in by_hash.cases(split)} for split in LISTS}
    assert sum(map(len, splits.values())) == 4


def test_broken_files_are_listed_and_the_others_stay_usable(tmp_path):
    folder = made_hospital(tmp_path / "data", patients=6)
    broken = {
        "P-1-000": (folder / "P-1-000" / "P-1-000-t1c.nii.gz").read_bytes()[:2000],
        "P-2-000": b"",
        "P-3-000": b"text, not an image" * 9,
    }
    for case, content in broken.items():
        (folder / case / f"{case}-t1c.nii.gz").write_bytes(content)
    data = opened(folder)
    assert data.counts["left_out"] == 3
    for case, problem in zip(broken, data.findings.warnings, strict=True):
        assert problem.kind is Reason.DATA_UNREADABLE
        assert f"{case}-t1c.nii.gz" in str(problem)
    assert sorted(case for split in LISTS for case in ids(data, split)) == ["P-4-000", "P-5-000", "P-6-000"]


def test_a_broken_file_does_not_move_other_patients_between_splits(tmp_path):
    folder = made_hospital(tmp_path / "data", patients=8)
    before = {case.case: split for split in LISTS for case in opened(folder).cases(split)}
    (folder / "P-1-000" / "P-1-000-t1c.nii.gz").write_bytes(b"")
    (folder / "P-2-000" / "P-2-000-t2f.nii.gz").unlink()
    after = {case.case: split for split in LISTS for case in opened(folder).cases(split)}
    assert after == {case: split for case, split in before.items() if case not in ("P-1-000", "P-2-000")}


def test_nothing_usable_is_an_error_that_names_files(tmp_path):
    folder = made_hospital(tmp_path / "data", patients=2)
    for file in folder.rglob("*t1c*"):
        file.write_bytes(b"")
    with pytest.raises(WardroundError, match=r"none of 2 cases is usable \(data_unreadable 2\)") as raised:
        opened(folder)
    assert raised.value.code is Reason.DATA_UNREADABLE
    assert "P-2-000-t1c.nii.gz" in str(raised.value)


def test_a_case_with_foreign_labels_is_left_out_and_named(tmp_path):
    folder = made_hospital(tmp_path / "data", patients=3)
    file = folder / "P-2-000" / "P-2-000-seg.nii.gz"
    label = np.asarray(nib.load(file).dataobj)
    write(file, np.where(label == 3, 4, label).astype(np.uint8))
    data = opened(folder)
    assert [problem.kind for problem in data.findings.warnings] == [Reason.LABEL_AMBIGUOUS]
    assert "P-2-000-seg.nii.gz" in str(data.findings.warnings[0])


def test_cases_with_a_sequence_missing_are_counted(tmp_path):
    folder = made_hospital(tmp_path / "data")
    (folder / "P-2-000" / "P-2-000-t2f.nii.gz").unlink()
    assert opened(folder).counts["left_out"] == 1
    data = opened(folder, allow_missing=["t2f"])
    assert (data.counts["left_out"], data.counts["cases_with_missing_sequence"]) == (0, 1)


def test_the_cache_may_lie_inside_the_data_folder(tmp_path):
    folder = made_hospital(tmp_path / "data")
    first = opened(folder, cache=folder / "cache")
    again = opened(folder, cache=folder / "cache")
    assert again.counts == first.counts
    assert again.counts["left_out"] == 0


def test_a_second_start_reads_prepared_cases_instead_of_images(tmp_path, monkeypatch):
    folder = made_hospital(tmp_path / "data")
    first = opened(folder)
    monkeypatch.setattr(
        "wardround.workloads.brain_tumor.prepare_cases.prepare", lambda *_: pytest.fail("prepared again")
    )
    again = opened(folder)
    np.testing.assert_array_equal(again.cases("train")[0].image, first.cases("train")[0].image)


def test_a_timepoint_without_a_label_stays_in_its_patients_split(tmp_path):
    folder = made_hospital(tmp_path / "data")
    write_case(folder, "P-4-001", with_label=False)
    write_case(folder, "P-1-001", with_label=False)
    data = opened(folder, split=LISTS)
    assert [case.case for case in data.unlabelled_cases] == ["P-1-001"]
    assert ids(data, "test") == ["P-4-000"]


def test_progress_and_what_was_left_out_are_logged(tmp_path, caplog):
    folder = made_hospital(tmp_path / "data")
    (folder / "P-1-000" / "P-1-000-t1c.nii.gz").write_bytes(b"")
    with caplog.at_level(logging.INFO, "wardround"):
        opened(folder)
    assert "checking 4 cases" in caplog.text
    assert "P-1-000-t1c.nii.gz" in caplog.text
    assert "ready after" in caplog.text


def test_a_generated_hospital_opens_through_its_own_site_yaml(tmp_path):
    files = write_hospitals(tmp_path / "demo", size=24, cases=CaseCounts(train=2, validation=1, test=1))
    workload = make({"patch": {"size": [16, 16, 16]}})
    for file in files:
        config = load_site_config(file)
        data = workload.open_site(config.section("brain_tumor"), cache=config.cache_folder)
        assert data.counts["left_out"] == 0
        assert (data.counts["train_cases"], data.counts["test_cases"]) == (2, 1)
        batch, target = next(data.batches(2, torch.Generator().manual_seed(0)))
        assert batch.isfinite().all()
        assert target.any()


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (RuntimeError("no such kernel\nat line 3"), Reason.DATA_UNREADABLE),
        (MemoryError("no"), Reason.OUT_OF_MEMORY),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), Reason.OUT_OF_MEMORY),
    ],
)
def test_a_case_that_fails_in_a_way_nobody_foresaw_leaves_the_others_usable(tmp_path, monkeypatch, error, code):
    def fail_at_one(files, *arguments, **more):
        if files.case == "P-2-000":
            raise error
        return prepare(files, *arguments, **more)

    monkeypatch.setattr("wardround.workloads.brain_tumor.prepare_cases.prepare", fail_at_one)
    data = opened(made_hospital(tmp_path / "data"), split=LISTS)
    assert ids(data, "train") == ["P-1-000"]
    (problem,) = data.findings.warnings
    assert problem.kind is code
    assert str(problem).startswith("P-2-000: ")
    assert "\n" not in str(problem)


def test_who_opted_out_is_left_out_of_everything_and_moves_nobody_else(tmp_path):
    folder = made_hospital(tmp_path / "data", patients=8)
    before = {case.case: split for split in LISTS for case in opened(folder).cases(split)}
    (folder / "P-2-000" / "P-2-000-t1c.nii.gz").write_bytes(b"")  # would be told, if anybody looked
    listed = tmp_path / "opted-out.txt"
    listed.write_text("P-1\nP-2\nP-99\n")
    data = opened(folder, cache=tmp_path / "fresh", opt_out_file=listed)
    after = {case.case: split for split in LISTS for case in data.cases(split)}
    assert after == {case: split for case, split in before.items() if case not in ("P-1-000", "P-2-000")}
    assert not data.findings.warnings
    assert [(note.kind, note.count) for note in data.findings.notes] == [(Reason.OPTED_OUT, 2), (Reason.OPTED_OUT, 1)]
    assert sum(data.counts[f"{split}_patients"] for split in LISTS) == 6


@pytest.mark.parametrize(
    ("written", "told"), [("P-2-000", "the id of a row or case"), ("p_002", "written otherwise"), ("P-2,x", "a table")]
)
def test_a_list_that_would_leave_nobody_out_though_it_means_somebody_lets_nothing_be_used(tmp_path, written, told):
    folder = made_hospital(tmp_path / "data")
    listed = tmp_path / "opted-out.txt"
    listed.write_text(f"P-1\n{written}\n")
    with pytest.raises(WardroundError, match=told) as caught:
        opened(folder, opt_out_file=listed)
    assert "line 2" in str(caught.value)


def test_a_list_of_who_opted_out_that_is_gone_lets_nothing_be_used(tmp_path):
    folder = made_hospital(tmp_path / "data")
    with pytest.raises(WardroundError, match="opt_out_file"):
        opened(folder, opt_out_file=tmp_path / "gone.txt")


def test_a_further_death_leaves_the_name_of_the_case_in_hand_alone(tmp_path, monkeypatch):
    folder, left = made_hospital(tmp_path / "data", patients=5), cache_folder(tmp_path / "cache") / "being_read"
    left.mkdir(parents=True)
    suspects = ["P-1-000", "P-2-000", "P-3-000"]
    for case in suspects:  # not locked, as a process that died leaves them
        (left / hashlib.sha256(case.encode()).hexdigest()).write_text(case)
    named = {}

    def look(files, *arguments, **options):
        named[files.case] = sorted(file.read_text() for file in left.iterdir())  # what a kill would leave here
        return prepare(files, *arguments, **options)

    monkeypatch.setattr(prepare_cases, "prepare", look)
    opened(folder, threads=2)
    assert {case: named[case] for case in suspects} == {case: [case] for case in suspects}
    assert set(named) == {*suspects, "P-4-000", "P-5-000"}
