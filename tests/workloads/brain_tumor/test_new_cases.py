"""Cases to watch a model by: all or the named ones, whatever split they trained in."""

from datetime import date
from pathlib import Path

import pytest

from support.made_cases import LISTS, SETTINGS, ids, made_hospital, site, write_case
from wardround.records.reasons import WardroundError
from wardround.workloads.brain_tumor.new_cases import open_new_cases
from wardround.workloads.brain_tumor.site_data import BrainTumorSiteData
from wardround.workloads.progress import unseen


def _new(folder: Path, *only: str, since: date | None = None) -> BrainTumorSiteData:
    settings = site(folder, split=LISTS)
    cache = folder.parent / "cache"
    return open_new_cases(SETTINGS, settings, cache=cache, progress=unseen, since=since, only=only)


def test_whoever_is_asked_for_is_scored_whatever_the_lists_say(tmp_path: Path) -> None:
    folder = made_hospital(tmp_path / "data")
    write_case(folder, "P-5-000", seed=9)
    everyone = _new(folder)
    assert sorted(ids(everyone, "test")) == [f"P-{number}-000" for number in range(1, 6)]
    assert ids(everyone, "train") == ids(everyone, "validation") == []
    assert ids(_new(folder, "P-5", "P-1-000"), "test") in (["P-1-000", "P-5-000"], ["P-5-000", "P-1-000"])
    assert sum(counts.sum() for _, counts in everyone.inputs("test")) == pytest.approx(4 * 5)  # sequences, cases


def test_dates_and_unknown_cases_are_refused(tmp_path: Path) -> None:
    folder = made_hospital(tmp_path / "data")
    with pytest.raises(WardroundError, match="images carry no date"):
        _new(folder, since=date(2026, 1, 1))
    with pytest.raises(WardroundError, match="no usable case or patient here"):
        _new(folder, "P-9")


def test_what_cannot_be_used_is_counted(tmp_path: Path) -> None:
    folder = made_hospital(tmp_path / "data")
    assert _new(folder).counts["left_out"] == 0
    write_case(folder, "P-5-000", seed=9)
    next((folder / "P-5-000").glob("*t2w*")).write_bytes(b"no image")
    assert _new(folder).counts["left_out"] == 1
