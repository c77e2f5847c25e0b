import gzip
import struct

import nibabel as nib
import numpy as np
import pytest

from support.made_cases import site, write, write_case
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.geometry import oriented, oriented_place, read_volume
from wardround.workloads.brain_tumor.header_pass import look_at_headers
from wardround.workloads.brain_tumor.layouts import find_cases
from wardround.workloads.brain_tumor.nifti_file import read_header
from wardround.workloads.brain_tumor.place import place_of
from wardround.workloads.brain_tumor.settings import SEQUENCES

DATA = np.arange(4 * 5 * 6, dtype=np.int16).reshape(4, 5, 6)


def _with_bytes(tmp_path, start, content, suffix=".nii.gz"):
    raw = bytearray(write(tmp_path / "plain.nii", DATA.astype(np.float64)).read_bytes())
    raw[start : start + len(content)] = content
    file = tmp_path / f"changed{suffix}"
    file.write_bytes(gzip.compress(bytes(raw)) if suffix.endswith("gz") else bytes(raw))
    return file


BROKEN = {
    "zero spacing": (80, struct.pack("<f", 0.0)),
    "NaN spacing": (80, struct.pack("<f", float("nan"))),
    "no inverse": (280, struct.pack("<4f", 0, 0, 0, 0)),
    "NaN in the affine": (280, struct.pack("<f", float("nan"))),
    "one slice": (40, struct.pack("<8h", 3, 4, 5, 1, 1, 1, 1, 1)),
    "two dimensions": (40, struct.pack("<8h", 2, 4, 5, 1, 1, 1, 1, 1)),
    "no type": (70, struct.pack("<h", 0)),
    "colors": (70, struct.pack("<hh", 128, 24)),
    "neither form": (252, struct.pack("<hh", 0, 0)),
    "no magic": (344, b"xxxx"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_header_is_judged_as_the_whole_file_is(tmp_path, name):
    file = _with_bytes(tmp_path, *BROKEN[name])
    with pytest.raises(WardroundError) as whole:
        read_volume(file)
    with pytest.raises(WardroundError) as header:
        place_of(read_header(file))
    assert header.value.code is whole.value.code
    assert str(header.value) == str(whole.value)


def test_only_the_first_bytes_are_read(tmp_path):
    noise = np.random.default_rng(0).integers(0, 999, (40, 40, 40), dtype=np.int16)
    file = write(tmp_path / "a.nii.gz", noise)
    file.write_bytes(file.read_bytes()[:9000])
    assert place_of(read_header(file)).shape == (40, 40, 40)
    with pytest.raises(WardroundError):
        read_volume(file)


def test_a_plain_file_that_is_cut_short_is_told_by_its_size(tmp_path):
    file = write(tmp_path / "a.nii", DATA)
    file.write_bytes(file.read_bytes()[:-10])
    with pytest.raises(WardroundError, match="its header promises"):
        read_header(file)


def test_nifti_2_is_read_too(tmp_path):
    nib.save(nib.Nifti2Image(DATA, np.diag([1, 2, 3, 1.0])), tmp_path / "a.nii.gz")
    assert place_of(read_header(tmp_path / "a.nii.gz")).shape == DATA.shape


def test_a_place_turns_as_its_volume_does(tmp_path):
    permuted = np.array([[0, 0, 1, 0], [-1, 0, 0, 0], [0, 2, 0, 0], [0, 0, 0, 1.0]])
    file = write(tmp_path / "a.nii.gz", DATA, permuted)
    volume, place = oriented(read_volume(file), "RAS"), oriented_place(place_of(read_header(file)), "RAS")
    assert place.shape == volume.shape == (6, 4, 5)
    np.testing.assert_array_equal(place.affine, volume.affine)


def test_all_that_is_wrong_with_a_case_is_told_and_counts_once(tmp_path):
    folder = write_case(tmp_path / "data", "P-1-000")
    write_case(tmp_path / "data", "P-2-000")
    (folder / "P-1-000-t1c.nii.gz").write_bytes(b"")
    label = folder / "P-1-000-seg.nii.gz"
    write(label, np.asarray(nib.load(label).dataobj)[:, :, 1:])
    cases = find_cases(site(tmp_path / "data"), SEQUENCES).cases
    seen = []
    looked = look_at_headers(cases, "RAS", progress=lambda *told: seen.append(told))
    assert list(looked.places) == ["P-2-000"]
    faults = looked.problems["P-1-000"].faults
    assert [(one.kind, one.count) for one in faults] == [(Reason.DATA_UNREADABLE, 1), (Reason.GEOMETRY_INVALID, 0)]
    assert seen[-1] == ("headers of cases", 2, 2)
