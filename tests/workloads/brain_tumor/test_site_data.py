import logging
from itertools import islice

import nibabel as nib
import numpy as np
import pytest
import torch

from support.made_cases import SETTINGS, site, write, write_case
from wardround.records.reasons import Reason, WardroundError
from wardround.site.config import load_site_config
from wardround.workloads.brain_tumor.preprocess import prepare
from wardround.workloads.brain_tumor.site_data import UNLABELLED_CROPS, PooledSiteData, open_site_data
from wardround.workloads.brain_tumor.synth.writer import CaseCounts, write_hospitals
from wardround.workloads.brain_tumor.workload import make

LISTS = {"train": ["P-1", "P-2"], "validation": ["P-3"], "test": ["P-4"]}


def _hospital(folder, patients=4, **arguments):
    for patient in range(1, patients + 1):
        write_case(folder, f"P-{patient}-000", seed=patient, **arguments)
    return folder


def _open(folder, cache=None, **settings):
    return open_site_data(SETTINGS, site(folder, **settings), cache=cache or folder.parent / "cache")


def _generator(seed=0):
    return torch.Generator().manual_seed(seed)


def _ids(data, split):
    return [case.case for case in data.cases(split)]


def test_cases_are_split_by_patient_with_all_timepoints_together(tmp_path):
    folder = _hospital(tmp_path / "data")
    write_case(folder, "P-4-001", seed=9)
    data = _open(folder, split=LISTS)
    assert _ids(data, "train") == ["P-1-000", "P-2-000"]
    assert _ids(data, "test") == ["P-4-000", "P-4-001"]
    counts = data.counts
    assert (counts["train_patients"], counts["train_cases"]) == (2, 2)
    assert (counts["test_patients"], counts["test_cases"]) == (1, 2)
    assert (counts["validation_cases"], counts["left_out"]) == (1, 0)
    by_hash = _open(folder)
    splits = {split: {case.patient for case in by_hash.cases(split)} for split in LISTS}
    assert sum(map(len, splits.values())) == 4


def test_broken_files_are_listed_and_the_others_stay_usable(tmp_path):
    folder = _hospital(tmp_path / "data", patients=6)
    broken = {
        "P-1-000": (folder / "P-1-000" / "P-1-000-t1c.nii.gz").read_bytes()[:2000],
        "P-2-000": b"",
        "P-3-000": b"text, not an image" * 9,
    }
    for case, content in broken.items():
        (folder / case / f"{case}-t1c.nii.gz").write_bytes(content)
    data = _open(folder)
    assert data.counts["left_out"] == 3
    for case, problem in zip(broken, data.problems, strict=True):
        assert problem.code is Reason.DATA_UNREADABLE
        assert f"{case}-t1c.nii.gz" in str(problem)
    assert sorted(case for split in LISTS for case in _ids(data, split)) == ["P-4-000", "P-5-000", "P-6-000"]


def test_a_broken_file_does_not_move_other_patients_between_splits(tmp_path):
    folder = _hospital(tmp_path / "data", patients=8)
    before = {case.case: split for split in LISTS for case in _open(folder).cases(split)}
    (folder / "P-1-000" / "P-1-000-t1c.nii.gz").write_bytes(b"")
    (folder / "P-2-000" / "P-2-000-t2f.nii.gz").unlink()
    after = {case.case: split for split in LISTS for case in _open(folder).cases(split)}
    assert after == {case: split for case, split in before.items() if case not in ("P-1-000", "P-2-000")}


def test_nothing_usable_is_an_error_that_names_files(tmp_path):
    folder = _hospital(tmp_path / "data", patients=2)
    for file in folder.rglob("*t1c*"):
        file.write_bytes(b"")
    with pytest.raises(WardroundError, match=r"none of 2 cases is usable \(data_unreadable 2\)") as raised:
        _open(folder)
    assert raised.value.code is Reason.DATA_UNREADABLE
    assert "P-2-000-t1c.nii.gz" in str(raised.value)


def test_a_case_with_foreign_labels_is_left_out_and_named(tmp_path):
    folder = _hospital(tmp_path / "data", patients=3)
    file = folder / "P-2-000" / "P-2-000-seg.nii.gz"
    label = np.asarray(nib.load(file).dataobj)
    write(file, np.where(label == 3, 4, label).astype(np.uint8))
    data = _open(folder)
    assert [problem.code for problem in data.problems] == [Reason.LABEL_AMBIGUOUS]
    assert "P-2-000-seg.nii.gz" in str(data.problems[0])


def test_cases_with_a_sequence_missing_are_counted(tmp_path):
    folder = _hospital(tmp_path / "data")
    (folder / "P-2-000" / "P-2-000-t2f.nii.gz").unlink()
    assert _open(folder).counts["left_out"] == 1
    data = _open(folder, allow_missing=["t2f"])
    assert (data.counts["left_out"], data.counts["cases_with_missing_sequence"]) == (0, 1)


def test_the_cache_may_lie_inside_the_data_folder(tmp_path):
    folder = _hospital(tmp_path / "data")
    first = _open(folder, cache=folder / "cache")
    again = _open(folder, cache=folder / "cache")
    assert again.counts == first.counts
    assert again.counts["left_out"] == 0


def test_a_second_start_reads_prepared_cases_instead_of_images(tmp_path, monkeypatch):
    folder = _hospital(tmp_path / "data")
    first = _open(folder)
    monkeypatch.setattr("wardround.workloads.brain_tumor.site_data.prepare", lambda *_: pytest.fail("prepared again"))
    again = _open(folder)
    np.testing.assert_array_equal(again.cases("train")[0].image, first.cases("train")[0].image)


def test_batches_follow_the_seed_and_visit_every_case_in_an_epoch(tmp_path):
    data = _open(_hospital(tmp_path / "data"), split={"train": ["P-1", "P-2", "P-3"], "validation": [], "test": []})
    first = list(islice(data.batches(2, _generator(1)), 5))
    again = list(islice(data.batches(2, _generator(1)), 5))
    other = list(islice(data.batches(2, _generator(2)), 5))
    assert all(torch.equal(a[0], b[0]) and torch.equal(a[1], b[1]) for a, b in zip(first, again, strict=True))
    assert not torch.equal(first[0][0], other[0][0])
    assert first[0][0].shape == (2, 4, 16, 16, 16)
    assert first[0][1].shape == (2, 3, 16, 16, 16)
    assert (data.steps_per_epoch(2), data.steps_per_epoch(3), data.steps_per_epoch(8)) == (2, 1, 1)
    assert data.counts["unlisted_patients"] == 1


def test_unlabelled_crops_come_from_the_train_split_and_need_no_label(tmp_path):
    folder = _hospital(tmp_path / "data", with_label=False)
    write_case(folder, "P-5-000", seed=5)
    data = _open(folder, split={"train": [], "validation": [], "test": ["P-5"]})
    assert data.counts["unlabelled_cases"] == 4
    assert _ids(data, "train") == []
    batches = list(data.unlabelled(3, _generator()))
    assert sum(len(batch) for batch in batches) == 4 * UNLABELLED_CROPS
    assert batches[0].shape == (3, 4, 16, 16, 16)
    with pytest.raises(WardroundError, match="train split") as raised:
        next(data.batches(2, _generator()))
    assert raised.value.code is Reason.TOO_FEW_CASES


def test_unlabelled_crops_come_from_test_cases_only_where_there_are_no_others(tmp_path):
    folder = _hospital(tmp_path / "data")
    some = _open(folder, split={"train": ["P-1"], "validation": [], "test": ["P-2", "P-3", "P-4"]})
    assert some.has_unlabelled
    assert sum(len(batch) for batch in some.unlabelled(2, _generator())) == UNLABELLED_CROPS
    outside = _open(folder, split={"train": [], "validation": [], "test": ["P-1", "P-2", "P-3", "P-4"]})
    assert not outside.has_unlabelled
    assert sum(len(batch) for batch in outside.unlabelled(2, _generator())) == 4 * UNLABELLED_CROPS


def test_a_timepoint_without_a_label_stays_in_its_patients_split(tmp_path):
    folder = _hospital(tmp_path / "data")
    write_case(folder, "P-4-001", with_label=False)
    write_case(folder, "P-1-001", with_label=False)
    data = _open(folder, split=LISTS)
    assert [case.case for case in data.unlabelled_cases] == ["P-1-001"]
    assert _ids(data, "test") == ["P-4-000"]


def test_scores_come_from_the_split_that_is_asked_for(tmp_path):
    data = _open(_hospital(tmp_path / "data"), split=LISTS)
    network = make(SETTINGS.model_dump()).network()
    scores = data.score(network, "test")
    assert [case.case for case in scores.cases] == ["P-4-000"]
    assert scores.split == "test"


def test_pooled_data_is_the_union_and_does_not_score(tmp_path):
    sites = [_open(_hospital(tmp_path / name / "data"), split=LISTS) for name in ("a", "b")]
    pooled = PooledSiteData(sites)
    assert len(pooled.cases("train")) == 4
    assert pooled.counts["train_patients"] == 4
    assert pooled.steps_per_epoch(2) == 2
    assert next(pooled.batches(4, _generator()))[0].shape[0] == 4
    with pytest.raises(WardroundError, match="score at each site"):
        pooled.score(torch.nn.Identity(), "test")
    with pytest.raises(WardroundError, match="pooling needs sites"):
        PooledSiteData([])


def test_progress_and_what_was_left_out_are_logged(tmp_path, caplog):
    folder = _hospital(tmp_path / "data")
    (folder / "P-1-000" / "P-1-000-t1c.nii.gz").write_bytes(b"")
    with caplog.at_level(logging.INFO, "wardround"):
        _open(folder)
    assert "checking 4 cases" in caplog.text
    assert "P-1-000-t1c.nii.gz" in caplog.text
    assert "ready after" in caplog.text


def test_a_generated_hospital_opens_through_its_own_site_yaml(tmp_path):
    files = write_hospitals(tmp_path / "demo", size=24, cases=CaseCounts(train=2, validation=1, test=1))
    workload = make({"patch": {"size": [16, 16, 16]}})
    for file in files:
        config = load_site_config(file)
        data = workload.open_site(config.section("brain_tumor"), folder=file.parent, cache=config.cache_folder)
        assert data.counts["left_out"] == 0
        assert (data.counts["train_cases"], data.counts["test_cases"]) == (2, 1)
        batch, target = next(data.batches(2, _generator()))
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

    monkeypatch.setattr("wardround.workloads.brain_tumor.site_data.prepare", fail_at_one)
    data = _open(_hospital(tmp_path / "data"), split=LISTS)
    assert _ids(data, "train") == ["P-1-000"]
    (problem,) = data.problems
    assert problem.code is code
    assert str(problem).startswith("P-2-000: ")
    assert "\n" not in str(problem)
