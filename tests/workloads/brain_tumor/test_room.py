"""Cases that fit neither disk nor memory are refused with numbers, before any is prepared."""

import shutil
from math import prod
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from support.made_cases import LISTS, SETTINGS, ids, made_hospital, opened, site, write_case
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor import content_hash, room
from wardround.workloads.brain_tumor.case_cache import CaseCache
from wardround.workloads.brain_tumor.header_pass import place_of_case
from wardround.workloads.brain_tumor.layouts import find_cases
from wardround.workloads.brain_tumor.prepare_cases import prepared_once
from wardround.workloads.brain_tumor.settings import SEQUENCES
from wardround.workloads.brain_tumor.workload import make

TURNED = np.array([[0, 0, -1.0, 0], [1.3, 0, 0, 0], [0, 2.1, 0, 0], [0, 0, 0, 1]])


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """What the disk has free, as a test sets it."""
    told = SimpleNamespace(free=10**15)
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: told)
    return told


def _entries(folder: Path) -> list[Path]:
    return list(folder.glob("**/entry.json"))


@pytest.mark.parametrize("affine", [np.eye(4), TURNED, TURNED * [1, 1.0004, 1, 1]])
@pytest.mark.parametrize("spacing", [(1.0, 1.0, 1.0), (0.7, 1.3, 2.0)])
@pytest.mark.parametrize("with_label", [True, False])
def test_the_estimate_is_what_is_written_but_for_the_crop(
    tmp_path: Path, affine: np.ndarray, spacing: tuple[float, float, float], with_label: bool
) -> None:
    write_case(tmp_path / "data", affine=affine, with_label=with_label)
    contract = SETTINGS.contract.model_copy(update={"spacing_mm": spacing})
    settings = SETTINGS.model_copy(update={"contract": contract})
    (files,) = find_cases(site(tmp_path / "data"), SEQUENCES).cases
    store = CaseCache(tmp_path / "cache")
    grid = prepared_once(files, settings, site(tmp_path / "data"), store).grid
    size = room.size_of(files, place_of_case(files, "RAS"), settings)
    assert size.shape == grid.resampled_shape
    written = sum(file.stat().st_size for file in _entries(store.folder)[0].parent.iterdir())
    assert written <= size.stored
    cropped = prod(grid.shape) / prod(grid.resampled_shape)
    most_beside = 16 * 1024 + 4096 * 12
    assert size.stored * cropped <= written + most_beside


def test_a_cache_larger_than_the_disk_is_refused_with_numbers_and_nothing_is_prepared(
    tmp_path: Path, free: SimpleNamespace
) -> None:
    folder = made_hospital(tmp_path / "data", patients=6)
    (folder / "P-6-000" / "P-6-000-t1c.nii.gz").write_bytes(b"")
    free.free = 100_000
    with pytest.raises(WardroundError, match=r"preparing 5 cases needs 0\.\d MiB, and 0\.1 MiB are free") as raised:
        opened(folder)
    assert raised.value.code is Reason.DISK_TOO_SMALL
    assert str(tmp_path / "cache") in str(raised.value)
    assert "P-6-000-t1c.nii.gz" in str(raised.value)  # and all that headers tell
    assert not _entries(tmp_path)


def test_room_for_the_brains_alone_is_enough(tmp_path: Path, free: SimpleNamespace) -> None:
    folder = made_hospital(tmp_path / "data")
    cases = find_cases(site(folder), SEQUENCES).cases
    whole = sum(room.size_of(files, place_of_case(files, "RAS"), SETTINGS).stored for files in cases)
    free.free = round(0.8 * whole)
    data = opened(folder)
    assert data.counts["left_out"] == 0
    written = sum(file.stat().st_size for file in (tmp_path / "cache").rglob("*") if file.is_file())
    assert written <= free.free


def test_what_is_in_the_cache_needs_no_room(tmp_path: Path, free: SimpleNamespace) -> None:
    folder = made_hospital(tmp_path / "data")
    before = opened(folder, split=LISTS)
    free.free = 0
    assert ids(opened(folder, split=LISTS), "train") == ids(before, "train")
    write_case(folder, "P-5-000", seed=5)
    with pytest.raises(WardroundError, match=r"preparing 1 cases needs .* 4 cases are there already"):
        opened(folder, split=LISTS)


def test_memory_that_one_case_exceeds_is_refused_with_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made_hospital(tmp_path / "data")
    write_case(folder, "P-5-000", seed=5, shape=(40, 22, 18))
    monkeypatch.setattr(room, "free_memory", lambda: 2e6)
    with pytest.raises(
        WardroundError, match=r"memory, and 1\.9 MiB are free, .*while P-5-000 of 40 x 22 x 18"
    ) as raised:
        opened(folder)
    assert raised.value.code is Reason.MEMORY_TOO_SMALL
    assert not _entries(tmp_path)


def test_cases_smaller_than_a_crop_count_for_as_long_as_they_are_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made_hospital(tmp_path / "data")
    section = site(folder).model_dump(mode="json", exclude_unset=True)
    monkeypatch.setattr(room, "free_memory", lambda: 6e6)
    make({"patch": {"size": [16, 16, 16]}}).open_site(section, cache=tmp_path / "cache")
    large = make({"patch": {"size": [48, 48, 48]}})
    with pytest.raises(WardroundError, match=r"8\.0 MiB to hold 4 cases that are smaller than a training crop"):
        large.open_site(section, cache=tmp_path / "cache")


def test_headers_alone_tell_it_too(tmp_path: Path, free: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made_hospital(tmp_path / "data")
    monkeypatch.setattr(content_hash, "_SETTLED_NS", 0)  # files of this moment are remembered too
    workload, section = (
        make({"patch": {"size": [16, 16, 16]}}),
        site(folder).model_dump(mode="json", exclude_unset=True),
    )
    free.free = 100
    told = workload.glance(section, cache=tmp_path / "cache")
    assert [one.kind for one in told.findings.errors] == [Reason.DISK_TOO_SMALL]
    free.free = 10**15
    workload.open_site(section, cache=tmp_path / "cache")
    free.free = 100
    assert not workload.glance(section, cache=tmp_path / "cache").findings.errors
