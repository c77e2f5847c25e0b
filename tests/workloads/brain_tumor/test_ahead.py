import os

import pytest

from support.made_cases import SETTINGS, made_hospital, opened, site
from wardround.records.reasons import Reason
from wardround.workloads.brain_tumor import ahead
from wardround.workloads.brain_tumor.case_cache import CaseCache, cache_folder
from wardround.workloads.brain_tumor.header_pass import look_at_headers
from wardround.workloads.brain_tumor.layouts import find_cases
from wardround.workloads.brain_tumor.settings import SEQUENCES


def _die_at_the_second(files, **more):
    if files.case == "P-2-000":
        os._exit(9)
    return ahead._prepare(files, **more)


def test_cases_are_prepared_in_processes_and_one_that_dies_names_its_case_alone(tmp_path, monkeypatch):
    folder = made_hospital(tmp_path / "data")
    (folder / "P-3-000" / "P-3-000-t1c.nii.gz").write_bytes(b"no image" * 99)
    described = site(folder)
    store = CaseCache(cache_folder(tmp_path / "cache"))
    cases = find_cases(described, SEQUENCES).cases
    monkeypatch.setattr(ahead, "partial", lambda _, **more: _Work(more))
    seen = []
    problems = ahead.prepare_ahead(
        cases, SETTINGS, described, store, processes=1, progress=lambda *told: seen.append(told)
    )
    assert {case: problem.code for case, problem in problems.items()} == {
        "P-2-000": Reason.WORKER_DIED,
        "P-3-000": Reason.DATA_UNREADABLE,
    }
    assert str(folder / "P-2-000") in str(problems["P-2-000"])
    assert seen[-1] == ("cases decompressed", 4, 4)
    assert len(list(store.folder.glob("*/entry.json"))) == 2


class _Work:
    """`_die_at_the_second` with the arguments of `_prepare`, as a fresh process can load it."""

    def __init__(self, more):
        self.more = more

    def __call__(self, files):
        return _die_at_the_second(files, **self.more)


def test_counts_and_findings_are_those_of_one_process(tmp_path, monkeypatch):
    folder = made_hospital(tmp_path / "data", patients=3)
    (folder / "P-3-000" / "P-3-000-t1c.nii.gz").write_bytes(
        (folder / "P-3-000" / "P-3-000-t1c.nii.gz").read_bytes()[:900]
    )
    alone = opened(folder, cache=tmp_path / "alone")
    monkeypatch.setattr(ahead, "_WORTH_VOXELS", 0)
    together = opened(folder, cache=tmp_path / "together", processes=2)
    assert together.counts == alone.counts
    assert together.findings == alone.findings


@pytest.mark.parametrize(("worth", "cores", "expected"), [(0, 3, 3), (0, 99, 4), (1e12, 3, 1)])
def test_processes_start_where_they_are_worth_it_and_never_more_than_cores_or_cases(
    tmp_path, monkeypatch, worth, cores, expected
):
    monkeypatch.setattr(ahead, "_WORTH_VOXELS", worth)
    cases = find_cases(site(made_hospital(tmp_path)), SEQUENCES).cases
    places = list(look_at_headers(cases, "RAS").places.values())
    assert ahead.processes_for(cases, places, cores) == expected


def test_no_more_cases_are_in_memory_than_fit(tmp_path, monkeypatch):
    monkeypatch.setattr(ahead, "_WORTH_VOXELS", 0)
    monkeypatch.setattr(ahead, "_BYTES", os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    cases = find_cases(site(made_hospital(tmp_path)), SEQUENCES).cases
    places = list(look_at_headers(cases, "RAS").places.values())
    assert ahead.processes_for(cases, places, 4) == 1
