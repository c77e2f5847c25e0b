import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nibabel as nib
import numpy as np
import pytest

from support.made_cases import SETTINGS, site, write, write_case
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor import prepare_cases
from wardround.workloads.brain_tumor.case_cache import CaseCache
from wardround.workloads.brain_tumor.layouts import find_cases
from wardround.workloads.brain_tumor.preprocess import prepare
from wardround.workloads.brain_tumor.settings import ImageContract

CONTRACT = SETTINGS.contract


class _Kitchen:
    """One case, its cache, and a count of how often it was prepared."""

    def __init__(self, tmp_path):
        self.folder = write_case(tmp_path / "data")
        self.site = site(tmp_path / "data")
        self.cache = CaseCache(tmp_path / "cache")
        self.made = 0

    def files(self, **settings):
        return find_cases(site(self.site.folder, **settings), CONTRACT.sequences).cases[0]

    def key(self, contract=CONTRACT, **settings):
        return self.cache.key(self.files(**settings), contract, site(self.site.folder, **settings))

    def make(self):
        self.made += 1
        return prepare(self.files(), CONTRACT, self.site)

    def get(self):
        return self.cache.get(self.key(), self.make)

    @property
    def entry(self):
        return self.cache.folder / self.key()


@pytest.fixture
def kitchen(tmp_path):
    return _Kitchen(tmp_path)


def _equal(one, other):
    np.testing.assert_array_equal(one.image, other.image)
    np.testing.assert_array_equal(one.label, other.label)
    np.testing.assert_array_equal(one.foreground, other.foreground)
    assert one.grid.to_plain() == other.grid.to_plain()
    assert one.missing == other.missing


def test_a_case_is_prepared_once_and_read_back_the_same(kitchen):
    fresh = prepare(kitchen.files(), CONTRACT, kitchen.site)
    _equal(kitchen.get(), fresh)
    _equal(kitchen.get(), fresh)
    assert kitchen.made == 1
    assert kitchen.get().image.dtype == np.float32
    assert kitchen.get().label.dtype == np.uint8


def test_a_case_is_known_to_be_read_while_it_is_prepared_and_not_after_it(kitchen, monkeypatch):
    names = []

    def look(*arguments, **options):
        names.extend(file.read_text() for file in (kitchen.cache.folder / "being_read").iterdir())
        return prepare(*arguments, **options)

    monkeypatch.setattr(prepare_cases, "prepare", look)
    files = kitchen.files()
    for _ in range(2):
        prepare_cases.prepared_once(files, SETTINGS, kitchen.site, kitchen.cache)
    assert names == [files.case]
    assert list((kitchen.cache.folder / "being_read").iterdir()) == []


def test_patients_images_are_readable_by_their_owner_alone(kitchen):
    kitchen.get()
    assert stat.S_IMODE(kitchen.cache.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(kitchen.entry.stat().st_mode) == 0o700


def test_writing_to_a_mapped_array_does_not_reach_the_disk(kitchen):
    image = kitchen.get().image
    before = image.copy()
    image[:] = 7
    np.testing.assert_array_equal(kitchen.get().image, before)


def test_a_mapped_case_holds_no_open_file(kitchen):
    kitchen.get()
    count = len(list(Path("/dev/fd").iterdir()))
    held = [kitchen.get() for _ in range(10)]
    assert len(list(Path("/dev/fd").iterdir())) == count
    assert len(held) == 10


def test_other_content_makes_another_entry_though_the_names_stay(kitchen):
    first = kitchen.key()
    file = kitchen.folder / "BraTS-GLI-00001-000-t1c.nii.gz"
    data = np.asarray(nib.load(file).dataobj).copy()
    data[10, 10, 10] += 1
    write(file, data)
    assert kitchen.key() != first
    seg = kitchen.folder / "BraTS-GLI-00001-000-seg.nii.gz"
    second = kitchen.key()
    write(seg, np.roll(np.asarray(nib.load(seg).dataobj), 1, 0))
    assert kitchen.key() != second


def test_every_setting_that_matters_is_in_the_key(kitchen):
    keys = [
        kitchen.key(),
        kitchen.key(normalisation="min_max"),
        kitchen.key(allow_missing=["t2f"]),
        kitchen.key(labels="msd"),
        kitchen.key(ImageContract(spacing_mm=(1, 1, 2))),
        kitchen.key(ImageContract(orientation="LPS")),
        kitchen.key(ImageContract(sequences=("t1c", "t1n", "t2w", "t2f"))),
    ]
    assert len(set(keys)) == len(keys)
    assert kitchen.key(split={"seed": 5}) == keys[0]
    assert kitchen.key(ImageContract(annotation_protocol="other")) == keys[0]


@pytest.mark.parametrize(
    "damage",
    [
        lambda entry: (entry / "label.npy").unlink(),
        lambda entry: (entry / "entry.json").unlink(),
        lambda entry: (entry / "entry.json").write_text('{"parts": {}}'),
        lambda entry: (entry / "entry.json").write_text("{"),
        lambda entry: (entry / "image.npy").write_bytes((entry / "image.npy").read_bytes()[:-9]),
        lambda entry: (entry / "image.npy").write_bytes((entry / "image.npy").read_bytes()[:-1] + b"\x7f"),
    ],
    ids=["no label", "no entry", "empty entry", "broken entry", "truncated", "one byte"],
)
def test_a_broken_entry_is_made_again(kitchen, damage):
    fresh = prepare(kitchen.files(), CONTRACT, kitchen.site)
    kitchen.get()
    damage(kitchen.entry)
    _equal(kitchen.get(), fresh)
    assert kitchen.made == 2
    kitchen.get()
    assert kitchen.made == 2
    assert not [file for file in kitchen.cache.folder.iterdir() if file.name.startswith(".")]


def test_another_process_that_was_first_does_no_harm(kitchen):
    other = CaseCache(kitchen.cache.folder)

    def make_while_another_finishes():
        preparation = kitchen.make()
        other.get(kitchen.key(), lambda: preparation)
        return preparation

    result = kitchen.cache.get(kitchen.key(), make_while_another_finishes)
    _equal(result, kitchen.get())
    assert [file.name for file in kitchen.cache.folder.iterdir() if file.is_dir()] == [kitchen.key()]


def test_many_at_once_get_the_same_case(kitchen):
    key = kitchen.key()
    fresh = kitchen.make()
    caches = [CaseCache(kitchen.cache.folder) for _ in range(8)]
    for _ in range(3):
        with ThreadPoolExecutor(8) as pool:
            results = list(pool.map(lambda cache: cache.get(key, lambda: fresh), caches))
        for result in results:
            _equal(result, fresh)
        (kitchen.cache.folder / key / "image.npy").write_bytes(b"")


def test_a_failed_preparation_leaves_nothing_behind(kitchen):
    def fail():
        raise WardroundError(Reason.DATA_UNREADABLE, "x")

    with pytest.raises(WardroundError, match="x"):
        kitchen.cache.get(kitchen.key(), fail)
    assert not [file for file in kitchen.cache.folder.iterdir() if file.is_dir()]


def test_a_cache_that_cannot_be_written_is_told_by_name(tmp_path):
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(WardroundError, match=r"cache_folder .*cache: cannot be written") as raised:
        CaseCache(tmp_path / "cache")
    assert raised.value.code is Reason.CONFIGURATION_INVALID
