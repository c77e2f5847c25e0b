import threading

import pytest
import torch

from support.made_cases import SETTINGS, made_hospital, opened, site
from wardround.records.reasons import Reason
from wardround.workloads.brain_tumor import ahead, prepare_cases
from wardround.workloads.brain_tumor.case_cache import CaseCache, cache_folder
from wardround.workloads.brain_tumor.layouts import find_cases
from wardround.workloads.brain_tumor.preprocess import prepare
from wardround.workloads.brain_tumor.room import CaseSize
from wardround.workloads.brain_tumor.settings import SEQUENCES


def test_cases_are_prepared_in_threads_and_one_that_fails_names_its_case_alone(tmp_path, monkeypatch):
    def starve_at_one(files, *arguments, **more):
        assert torch.get_num_threads() == 1
        if files.case == "P-2-000":
            raise MemoryError("no")
        return prepare(files, *arguments, **more)

    folder = made_hospital(tmp_path / "data")
    (folder / "P-3-000" / "P-3-000-t1c.nii.gz").write_bytes(b"no image" * 99)
    described = site(folder)
    store = CaseCache(cache_folder(tmp_path / "cache"))
    monkeypatch.setattr(prepare_cases, "prepare", starve_at_one)
    before = torch.get_num_threads()
    seen = []
    problems = ahead.prepare_ahead(
        find_cases(described, SEQUENCES).cases,
        SETTINGS,
        described,
        store,
        threads=2,
        progress=lambda *told: seen.append(told),
    )
    assert {case: problem.code for case, problem in problems.items()} == {
        "P-2-000": Reason.OUT_OF_MEMORY,
        "P-3-000": Reason.DATA_UNREADABLE,
    }
    assert str(problems["P-2-000"]).startswith("P-2-000: ")
    assert seen[-1] == ("cases decompressed", 4, 4)
    assert len(list(store.folder.glob("*/entry.json"))) == 2
    assert torch.get_num_threads() == before


def test_what_has_not_begun_is_left_where_it_is_interrupted(tmp_path):
    def interrupt(*_told):
        raise KeyboardInterrupt

    described = site(made_hospital(tmp_path / "data", patients=8))
    store = CaseCache(cache_folder(tmp_path / "cache"))
    with pytest.raises(KeyboardInterrupt):
        ahead.prepare_ahead(
            find_cases(described, SEQUENCES).cases, SETTINGS, described, store, threads=1, progress=interrupt
        )
    assert len(list(store.folder.glob("*/entry.json"))) < 8
    assert not list(store.folder.glob(".unfinished-*"))


def test_a_case_that_has_begun_ends_at_its_next_step_where_it_is_interrupted(tmp_path, monkeypatch):
    ends, goes_on = [], threading.Event()

    def reading(files, *arguments, between_steps, **more):
        if files.case == "P-1-000":
            return prepare(files, *arguments, between_steps=between_steps, **more)
        goes_on.wait(60)  # a large case, which is in the middle of a step
        try:
            return prepare(files, *arguments, between_steps=between_steps, **more)
        except ahead._EndedError:
            ends.append(files.case)
            raise

    def interrupt(*_told):
        threading.Timer(0.2, goes_on.set).start()
        raise KeyboardInterrupt

    described = site(made_hospital(tmp_path / "data", patients=2))
    store = CaseCache(cache_folder(tmp_path / "cache"))
    monkeypatch.setattr(prepare_cases, "prepare", reading)
    with pytest.raises(KeyboardInterrupt):
        ahead.prepare_ahead(
            find_cases(described, SEQUENCES).cases, SETTINGS, described, store, threads=2, progress=interrupt
        )
    assert ends == ["P-2-000"]
    assert len(list(store.folder.glob("*/entry.json"))) == 1


def test_counts_and_findings_are_those_of_one_thread(tmp_path):
    folder = made_hospital(tmp_path / "data", patients=3)
    (folder / "P-3-000" / "P-3-000-t1c.nii.gz").write_bytes(
        (folder / "P-3-000" / "P-3-000-t1c.nii.gz").read_bytes()[:900]
    )
    alone = opened(folder, cache=tmp_path / "alone")
    together = opened(folder, cache=tmp_path / "together", threads=2)
    assert together.counts == alone.counts
    assert together.findings == alone.findings


@pytest.mark.parametrize(
    ("cases", "cores", "free", "expected"),
    [(4, 3, 1e9, 3), (4, 99, 1e9, 4), (4, 4, 250, 2), (4, 4, 50, 1), (0, 4, 9, 1)],
)
def test_no_more_at_once_than_cores_cases_or_memory(monkeypatch, cases, cores, free, expected):
    monkeypatch.setattr(ahead, "free_memory", lambda: free)
    sizes = [CaseSize((4, 4, 4), stored=1, peak=100 - place, held=0) for place in range(cases)]
    assert ahead.threads_for(sizes, cores) == expected
