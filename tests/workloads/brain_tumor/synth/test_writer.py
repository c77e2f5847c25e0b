import hashlib
from pathlib import Path

import nibabel as nib
import numpy as np
import pytest
import yaml

from wardround.records.reasons import WardroundError
from wardround.records.schema_faults import validated
from wardround.workloads.brain_tumor.settings import BrainTumorSiteSettings
from wardround.workloads.brain_tumor.synth.case import make_case
from wardround.workloads.brain_tumor.synth.hospitals import HOSPITALS
from wardround.workloads.brain_tumor.synth.writer import CaseCounts, write_hospitals

COUNTS = CaseCounts(train=1, validation=1, test=2)
SIZE = 16


def _digest(folder: Path) -> str:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    content = [str(file.relative_to(folder)).encode() + file.read_bytes() for file in files]
    return hashlib.sha256(b"".join(content)).hexdigest()


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("written")
    write_hospitals(out, hospitals=4, size=SIZE, cases=COUNTS, seed=3)
    return out


def test_same_seed_same_bytes_another_seed_others(written, tmp_path):
    for name, seed in (("same", 3), ("other", 4)):
        write_hospitals(tmp_path / name, hospitals=4, size=SIZE, cases=COUNTS, seed=seed)
    assert _digest(tmp_path / "same") == _digest(written)
    assert _digest(tmp_path / "other") != _digest(written)


def test_files_are_brats_2023_and_hold_the_case(written):
    folder = written / "hospital-a" / "data" / "BraTS-SYN-00001-000"
    names = sorted(file.name for file in folder.iterdir())
    assert names == [f"BraTS-SYN-00001-000-{part}.nii.gz" for part in ("seg", "t1c", "t1n", "t2f", "t2w")]
    images, label = make_case(HOSPITALS["hospital-a"], 3, 0, SIZE)
    t1c = nib.load(folder / "BraTS-SYN-00001-000-t1c.nii.gz")
    assert t1c.get_data_dtype() == np.int16
    assert nib.aff2axcodes(t1c.affine) == ("L", "P", "S")
    assert np.array_equal(np.asarray(t1c.dataobj), np.rint(images[1]))
    seg = nib.load(folder / "BraTS-SYN-00001-000-seg.nii.gz")
    assert np.array_equal(np.asarray(seg.dataobj), label)
    assert np.allclose(seg.affine, t1c.affine)


def test_sites_name_their_split_and_the_fourth_only_evaluates(written):
    roles, patients = {}, []
    for file in sorted(written.glob("*/site.yaml")):
        site = yaml.safe_load(file.read_text())
        settings = validated(BrainTumorSiteSettings, site["data"]["brain_tumor"], str(file))
        roles[site["name"]] = site["role"]
        split = settings.split
        assert split.train is not None
        assert split.validation is not None
        assert split.test is not None
        expected = (1, 0, 2) if site["role"] == "evaluate" else (1, 1, 2)
        assert (len(split.train), len(split.validation), len(split.test)) == expected
        of_site = [*split.train, *split.validation, *split.test]
        assert sorted(folder.name for folder in (file.parent / "data").iterdir()) == [f"{p}-000" for p in of_site]
        patients += of_site
        assert site["synthetic"] is True
    assert roles == {**dict.fromkeys(["hospital-a", "hospital-b", "hospital-c"], "train"), "hospital-d": "evaluate"}
    assert len(set(patients)) == len(patients) == 15


def test_the_knob_reaches_only_the_named_hospital(tmp_path):
    files = write_hospitals(
        tmp_path, hospitals=3, size=SIZE, cases=CaseCounts(1, 0, 0), seed=0, min_max=("hospital-c",)
    )
    settings = [yaml.safe_load(file.read_text())["data"]["brain_tumor"]["normalisation"] for file in files]
    assert settings == ["z_score", "z_score", "min_max"]
    with pytest.raises(WardroundError, match="hospital-z"):
        write_hospitals(tmp_path, hospitals=3, size=SIZE, min_max=("hospital-z",))


def test_progress_is_told_case_by_case(tmp_path):
    calls = []
    write_hospitals(tmp_path, hospitals=1, size=SIZE, cases=COUNTS, on_case=lambda *call: calls.append(call))
    assert calls == [("hospital-a", done, 4) for done in (1, 2, 3, 4)]
