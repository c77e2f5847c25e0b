import os

import pytest

from support.made_cases import site, write_case, write_msd
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.layouts import find_cases, patient_of, read_case_files
from wardround.workloads.brain_tumor.settings import SEQUENCES


def _found(folder, layout="brats2023", exclude=None, **settings):
    return find_cases(site(folder, layout, **settings), SEQUENCES, exclude=exclude)


def test_brats_2018_folders_are_found_below_grades(tmp_path):
    write_case(tmp_path / "HGG", "Brats18_A_1", layout="brats2018")
    write_case(tmp_path / "LGG", "Brats18_B_1", layout="brats2018", suffix=".nii")
    found = _found(tmp_path, "brats2018")
    assert [case.case for case in found.cases] == ["Brats18_A_1", "Brats18_B_1"]
    first = found.cases[0]
    assert {name: volume.file.name for name, volume in first.volumes.items()} == {
        "t1n": "Brats18_A_1_t1.nii.gz",
        "t1c": "Brats18_A_1_t1ce.nii.gz",
        "t2w": "Brats18_A_1_t2.nii.gz",
        "t2f": "Brats18_A_1_flair.nii.gz",
    }
    assert first.label.name == "Brats18_A_1_seg.nii.gz"
    assert not found.problems


@pytest.mark.parametrize(
    ("case", "layout", "patient"),
    [
        ("BraTS-GLI-00001-000", "brats2023", "BraTS-GLI-00001"),
        ("BraTS-GLI-00001-101", "brats2023", "BraTS-GLI-00001"),
        ("BraTS-GLI-00001", "brats2023", "BraTS-GLI-00001"),
        ("Brats18_TCIA01_131_1", "brats2018", "Brats18_TCIA01_131_1"),
        ("BRATS_001", "msd", "BRATS_001"),
    ],
)
def test_brats_2023_ids_end_in_a_timepoint(case, layout, patient):
    assert patient_of(case, layout) == patient


def test_timepoints_are_two_cases_of_one_patient(tmp_path):
    write_case(tmp_path, "BraTS-GLI-00001-000")
    write_case(tmp_path, "BraTS-GLI-00001-001")
    cases = _found(tmp_path).cases
    assert {case.patient for case in cases} == {"BraTS-GLI-00001"}
    assert len(cases) == 2


def test_a_missing_sequence_leaves_the_case_out_unless_the_site_allows_it(tmp_path):
    folder = write_case(tmp_path, "BraTS-GLI-00001-000")
    write_case(tmp_path, "BraTS-GLI-00002-000")
    (folder / "BraTS-GLI-00001-000-t2f.nii.gz").unlink()
    found = _found(tmp_path)
    assert [case.case for case in found.cases] == ["BraTS-GLI-00002-000"]
    assert found.left_out_patients == {"BraTS-GLI-00001"}
    (problem,) = found.problems
    assert problem.code is Reason.SEQUENCE_MISSING
    assert "BraTS-GLI-00001-000: no t2f" in str(problem)
    allowed = _found(tmp_path, allow_missing=["t2f"])
    assert not allowed.problems
    assert set(allowed.cases[0].volumes) == {"t1n", "t1c", "t2w"}


def test_a_sites_own_name_goes_through_its_aliases(tmp_path):
    write_case(tmp_path, names={"t1n": "t1n", "t1c": "T1GD", "t2w": "t2w", "t2f": "t2f"})
    assert _found(tmp_path).problems[0].code is Reason.SEQUENCE_MISSING
    (case,) = _found(tmp_path, aliases={"t1c": ["t1gd"]}).cases
    assert case.volumes["t1c"].file.name == "BraTS-GLI-00001-000-T1GD.nii.gz"


def test_two_files_for_one_sequence_are_refused(tmp_path):
    folder = write_case(tmp_path)
    original = folder / "BraTS-GLI-00001-000-t1c.nii.gz"
    (folder / "BraTS-GLI-00001-000-t1gd.nii.gz").write_bytes(original.read_bytes())
    assert not _found(tmp_path).problems
    (problem,) = _found(tmp_path, aliases={"t1c": ["t1gd"]}).problems
    assert problem.code is Reason.SEQUENCE_AMBIGUOUS
    (folder / "BraTS-GLI-00001-000-t1n.nii").write_bytes(b"")
    assert "2 volumes for t1n" in str(_found(tmp_path).problems[0])


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"aliases": {"t1c": ["t1n"]}}, "'t1n' would be both t1n and t1c"),
        ({"aliases": {"t1c": ["x"], "t2f": ["X"]}}, "'x' would be both t1c and t2f"),
        ({"aliases": {"t1ce": ["x"]}}, "aliases: unknown sequence t1ce"),
        ({"allow_missing": ["flair"]}, "allow_missing: unknown sequence flair"),
    ],
)
def test_settings_that_contradict_themselves_are_refused(tmp_path, settings, told):
    write_case(tmp_path)
    with pytest.raises(WardroundError, match=told) as raised:
        _found(tmp_path, **settings)
    assert raised.value.code is Reason.CONFIGURATION_INVALID


def test_a_cache_or_hidden_folder_inside_the_data_folder_holds_no_cases(tmp_path):
    write_case(tmp_path, "BraTS-GLI-00001-000")
    write_case(tmp_path / "cache", "BraTS-GLI-00002-000")
    write_case(tmp_path / ".trash", "BraTS-GLI-00003-000")
    found = _found(tmp_path, exclude=tmp_path / "cache")
    assert [case.case for case in found.cases] == ["BraTS-GLI-00001-000"]
    assert len(_found(tmp_path).cases) == 2


def test_linked_case_folders_are_followed_and_a_circle_of_links_ends(tmp_path):
    write_case(tmp_path / "elsewhere", "BraTS-GLI-00001-000")
    data = tmp_path / "data"
    data.mkdir()
    (data / "BraTS-GLI-00001-000").symlink_to(tmp_path / "elsewhere" / "BraTS-GLI-00001-000")
    (data / "again").symlink_to(data)
    assert [case.case for case in _found(data).cases] == ["BraTS-GLI-00001-000"]


def test_one_id_in_two_places_is_used_once_and_told(tmp_path):
    write_case(tmp_path / "a", "BraTS-GLI-00001-000")
    write_case(tmp_path / "b", "BraTS-GLI-00001-000")
    found = _found(tmp_path)
    assert len(found.cases) == 1
    assert [problem.code for problem in found.problems] == [Reason.CASE_DUPLICATED]


def test_a_folder_without_cases_is_an_error(tmp_path):
    with pytest.raises(WardroundError, match="no case in layout brats2023"):
        _found(tmp_path)
    with pytest.raises(WardroundError, match="no such folder") as raised:
        _found(tmp_path / "absent")
    assert raised.value.code is Reason.DATA_MISSING


def test_a_case_without_a_label_is_found_without_one(tmp_path):
    write_case(tmp_path, with_label=False)
    assert _found(tmp_path).cases[0].label is None


def test_msd_channels_are_found_by_the_names_in_dataset_json(tmp_path):
    write_msd(tmp_path, {"BRATS_001": 1, "BRATS_002": 2})
    found = _found(tmp_path, "msd")
    assert [case.case for case in found.cases] == ["BRATS_001", "BRATS_002"]
    channels = {name: (volume.channel, volume.channels) for name, volume in found.cases[0].volumes.items()}
    assert channels == {"t1n": (1, 4), "t1c": (2, 4), "t2w": (3, 4), "t2f": (0, 4)}
    assert found.cases[0].label == tmp_path / "labelsTr" / "BRATS_001.nii.gz"


def test_one_case_is_read_by_its_folder_or_its_4d_image(tmp_path):
    folder = write_case(tmp_path / "b")
    files = read_case_files(folder, site(tmp_path / "b"), SEQUENCES)
    assert (files.case, files.patient) == ("BraTS-GLI-00001-000", "BraTS-GLI-00001")
    msd = write_msd(tmp_path / "m", {"BRATS_001": 1})
    files = read_case_files(msd / "imagesTr" / "BRATS_001.nii.gz", site(msd, "msd"), SEQUENCES)
    assert (files.case, files.volumes["t1c"].channel) == ("BRATS_001", 2)
    for path, layout in ((tmp_path / "absent", "brats2023"), (msd, "msd")):
        with pytest.raises(WardroundError, match="expected a"):
            read_case_files(path, site(msd, layout), SEQUENCES)


@pytest.mark.parametrize("place", ["case", "above", "file"])
def test_a_name_that_is_no_utf_8_leaves_its_case_out_and_is_told_readably(tmp_path, place):
    write_case(tmp_path, "BraTS-GLI-00001-000")
    folder = write_case(tmp_path / "new", "BraTS-GLI-00002-000")
    garbled = os.fsdecode(b"M\xfcller")
    if place == "case":
        for file in folder.iterdir():
            file.rename(file.with_name(file.name.replace("00002", garbled)))
        folder.rename(folder.with_name(f"BraTS-GLI-{garbled}-000"))
    elif place == "above":
        folder.parent.rename(tmp_path / garbled)
    else:
        (folder / f"BraTS-GLI-00002-000-{garbled}.nii.gz").touch()
    found = _found(tmp_path)
    assert [case.case for case in found.cases] == ["BraTS-GLI-00001-000"]
    (problem,) = found.problems
    assert problem.code is Reason.DATA_UNREADABLE
    assert r"M\xfcller" in str(problem)
    assert str(problem).encode()
    expected = "BraTS-GLI-" + (r"M\xfcller" if place == "case" else "00002")
    assert found.left_out_patients == {expected}


def test_who_opted_out_counts_for_the_split_as_without_having_opted_out(tmp_path):
    write_case(tmp_path, "P-1-000")
    write_case(tmp_path, "P-2-000")
    write_case(tmp_path, "P-3-000", with_label=False)
    for case in ("P-2-000", "P-3-000"):
        (tmp_path / case / f"{case}-t1c.nii.gz").unlink()
    settings = site(tmp_path, "brats2023")
    everybody = find_cases(settings, SEQUENCES)
    found = find_cases(settings, SEQUENCES, opted_out=("P-1", "P-2", "P-3"))
    ranked = {files.patient for files in everybody.cases if files.label} | everybody.left_out_patients
    assert found.left_out_patients == ranked == {"P-1", "P-2", "P-3"}
    assert (found.cases, found.problems) == ((), ())
    assert found.opted_out_patients == {"P-1", "P-2", "P-3"}
