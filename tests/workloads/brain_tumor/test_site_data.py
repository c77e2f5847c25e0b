from itertools import islice

import pytest
import torch

from support.made_cases import LISTS, SETTINGS, ids, made_hospital, opened, write_case
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.site_data import UNLABELLED_CROPS
from wardround.workloads.brain_tumor.workload import make


def test_batches_follow_the_seed_and_visit_every_case_in_an_epoch(tmp_path):
    data = opened(
        made_hospital(tmp_path / "data"), split={"train": ["P-1", "P-2", "P-3"], "validation": [], "test": []}
    )
    first = list(islice(data.batches(2, torch.Generator().manual_seed(1)), 5))
    again = list(islice(data.batches(2, torch.Generator().manual_seed(1)), 5))
    other = list(islice(data.batches(2, torch.Generator().manual_seed(2)), 5))
    assert all(torch.equal(a[0], b[0]) and torch.equal(a[1], b[1]) for a, b in zip(first, again, strict=True))
    assert not torch.equal(first[0][0], other[0][0])
    assert first[0][0].shape == (2, 4, 16, 16, 16)
    assert first[0][1].shape == (2, 3, 16, 16, 16)
    assert (data.steps_per_epoch(2), data.steps_per_epoch(3), data.steps_per_epoch(8)) == (2, 1, 1)
    assert data.counts["unlisted_patients"] == 1


def test_unlabelled_crops_come_from_the_train_split_and_need_no_label(tmp_path):
    folder = made_hospital(tmp_path / "data", with_label=False)
    write_case(folder, "P-5-000", seed=5)
    data = opened(folder, split={"train": [], "validation": [], "test": ["P-5"]})
    assert data.counts["unlabelled_cases"] == 4
    assert ids(data, "train") == []
    batches = list(data.unlabelled(3, torch.Generator().manual_seed(0)))
    assert sum(len(batch) for batch in batches) == 4 * UNLABELLED_CROPS
    assert batches[0].shape == (3, 4, 16, 16, 16)
    with pytest.raises(WardroundError, match="train split") as raised:
        next(data.batches(2, torch.Generator().manual_seed(0)))
    assert raised.value.code is Reason.TOO_FEW_CASES


def test_unlabelled_crops_come_from_test_cases_only_where_there_are_no_others(tmp_path):
    folder = made_hospital(tmp_path / "data")
    some = opened(folder, split={"train": ["P-1"], "validation": [], "test": ["P-2", "P-3", "P-4"]})
    assert some.has_unlabelled
    assert sum(len(batch) for batch in some.unlabelled(2, torch.Generator().manual_seed(0))) == UNLABELLED_CROPS
    outside = opened(folder, split={"train": [], "validation": [], "test": ["P-1", "P-2", "P-3", "P-4"]})
    assert not outside.has_unlabelled
    assert sum(len(batch) for batch in outside.unlabelled(2, torch.Generator().manual_seed(0))) == 4 * UNLABELLED_CROPS


def test_scores_come_from_the_split_that_is_asked_for(tmp_path):
    data = opened(made_hospital(tmp_path / "data"), split=LISTS)
    network = make(SETTINGS.model_dump()).network()
    scores = data.score(network, "test")
    assert [case.case for case in scores.cases] == ["P-4-000"]
    assert scores.split == "test"


def test_its_cases_are_known_again_by_patient_case_and_split(tmp_path):
    folder = made_hospital(tmp_path / "data", 5)
    known = opened(folder, split=LISTS).cases_sha256
    assert opened(folder, cache=tmp_path / "other", split=LISTS).cases_sha256 == known
    others = LISTS | {"train": ["P-1", "P-5"]}, LISTS | {"validation": ["P-4"], "test": ["P-3"]}
    found = [opened(folder, split=split).cases_sha256 for split in others]
    (folder / "P-2-000").rename(folder / "P-2-001")
    for file in (folder / "P-2-001").iterdir():
        file.rename(file.with_name(file.name.replace("P-2-000", "P-2-001")))
    found.append(opened(folder, split=LISTS).cases_sha256)
    assert len({known, *found}) == 4
