"""`synth`, `site inspect` and the naming that `predict` needs, on a small hospital."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import nibabel as nib
import numpy as np
import pytest
import yaml
from typer.testing import CliRunner, Result

from wardround.cli.main import app
from wardround.records.reasons import WardroundError
from wardround.site import processes
from wardround.workloads.brain_tumor import open_site
from wardround.workloads.brain_tumor.layouts import CaseFiles

CLI = CliRunner()


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("generated")
    small = ["--hospitals", "1", "--size", "24", "--train", "1", "--validation", "1", "--test", "1"]
    done = CLI.invoke(app, ["synth", "brain-tumor", str(out), *small])
    assert done.exit_code == 0, done.output
    assert done.output.strip().endswith("hospital-a/site.yaml")
    return out / "hospital-a"


def test_inspect_counts_what_a_study_would_see(hospital: Path, study_folder: Path) -> None:
    done = CLI.invoke(app, ["site", "inspect", str(hospital / "site.yaml"), "--study", str(study_folder)])
    assert done.exit_code == 0, done.output
    assert "train cases" in done.output


def test_cases_at_which_a_process_died_are_named_before_they_are_read_again_one_at_a_time(
    hospital: Path, study_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(hospital / "cache", ignore_errors=True)
    died, *others = sorted(folder.name for folder in (hospital / "data").iterdir())
    left = hospital / "cache" / "brain_tumor" / "being_read"
    left.mkdir(parents=True)
    (left / "1").write_text(died)  # not locked, as a process that died leaves it
    at_once: list[str] = []

    def prepare_ahead(cases: Sequence[CaseFiles], *_: object, **__: object) -> dict[str, WardroundError]:
        at_once.extend(files.case for files in cases)
        return {}

    monkeypatch.setattr(open_site, "prepare_ahead", prepare_ahead)
    monkeypatch.setattr(processes, "available_cores", lambda: 2)
    command = ["site", "inspect", str(hospital / "site.yaml"), "--study", str(study_folder)]
    done = CLI.invoke(app, command)
    assert done.exit_code == 0, done.output
    told = f"an earlier process died while it read {died}: if this one dies too, look at that case, or take it out"
    assert done.stderr.count(told) == 1
    assert at_once == others
    assert "died" not in CLI.invoke(app, command).stderr


def test_inspect_names_a_broken_file_and_the_split_that_it_empties(hospital: Path, study_folder: Path) -> None:
    broken = min((hospital / "data").glob("*/*t1c.nii.gz"))
    whole = broken.read_bytes()
    broken.write_bytes(whole[:200])
    try:
        done = CLI.invoke(app, ["site", "inspect", str(hospital / "site.yaml"), "--study", str(study_folder)])
    finally:
        broken.write_bytes(whole)
    assert done.exit_code == 1
    assert broken.name in done.output
    assert "no train cases" in done.output


def test_headers_alone_are_looked_at_where_that_is_asked_for(hospital: Path, study_folder: Path) -> None:
    cut, shifted = sorted((hospital / "data").glob("*/*t1c.nii.gz"))[:2]
    before = {file: file.read_bytes() for file in (cut, shifted)}
    cut.write_bytes(before[cut][:-200])  # its header is whole
    image = nib.load(shifted)
    affine = np.array(image.affine)
    affine[0, 3] += 5
    nib.save(nib.Nifti1Image(np.asarray(image.dataobj), affine), shifted)
    asked = ["site", "inspect", str(hospital / "site.yaml"), "--study", str(study_folder)]
    try:
        glance = CLI.invoke(app, [*asked, "--headers-only"])
        whole = CLI.invoke(app, asked)
    finally:
        for file, content in before.items():
            file.write_bytes(content)
    assert "by its headers" in glance.output
    assert "geometry_invalid" in glance.output
    assert shifted.name in glance.output
    assert cut.name not in glance.output
    assert cut.name in whole.output


def test_a_patient_in_two_splits_is_told_with_what_is_wrong_with_images(hospital: Path, study_folder: Path) -> None:
    site, broken = hospital / "site.yaml", min((hospital / "data").glob("*/*t1c.nii.gz"))
    patient = broken.parent.name.rpartition("-")[0]
    before, image = site.read_text(), broken.read_bytes()
    settings = yaml.safe_load(before)
    settings["data"]["brain_tumor"]["split"] = {"train": [patient], "validation": [patient], "test": []}
    try:
        broken.write_bytes(b"text")
        site.write_text(yaml.safe_dump(settings))
        done = CLI.invoke(app, ["site", "inspect", str(site), "--study", str(study_folder)])
    finally:
        site.write_text(before)
        broken.write_bytes(image)
    assert done.exit_code == 1
    for told in ("split_invalid", patient, "data_unreadable", broken.name):
        assert told in done.output


def test_inspect_away_from_the_studies_says_how_to_name_one(
    hospital: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CLI.invoke(app, ["site", "inspect", str(hospital / "site.yaml")])
    assert done.exit_code == 2
    assert "--study" in done.output


def test_unknown_hospital_for_min_max_is_exit_2(tmp_path: Path) -> None:
    done = CLI.invoke(app, ["synth", "brain-tumor", str(tmp_path), "--hospitals", "1", "--min-max", "hospital-z"])
    assert done.exit_code == 2
    assert "hospital-z" in done.output


def _inspect(hospital: Path, study_folder: Path) -> Result:
    return CLI.invoke(app, ["site", "inspect", str(hospital / "site.yaml"), "--study", str(study_folder)])


@pytest.fixture
def other(hospital: Path, tmp_path: Path) -> Path:
    """A copy of the hospital, to spoil."""
    return Path(shutil.copytree(hospital, tmp_path / "other"))


def test_inspect_tells_each_problem_once(other: Path, study_folder: Path) -> None:
    broken = min((other / "data").glob("*/*t1c.nii.gz"))
    broken.write_bytes(b"text")
    site, environment = str(other / "site.yaml"), {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "wardround.cli.main", "site", "inspect", site, "--study", str(study_folder)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.stdout + done.stderr).count(broken.name) == 1


@pytest.mark.parametrize(
    ("line", "told"),
    [("device: cuda:99", "device: cuda:99 is not usable"), ("state_folder: data/none/site.yaml/x", "state_folder")],
)
def test_inspect_looks_at_the_machine_too(other: Path, study_folder: Path, line: str, told: str) -> None:
    file = other / "site.yaml"
    key = line.split(":")[0]
    kept = [one for one in file.read_text().splitlines() if not one.startswith(f"{key}:")]
    file.write_text("\n".join([*kept, line]) + "\n")
    (other / "data" / "none").write_text("a file")
    done = _inspect(other, study_folder)
    assert done.exit_code == 1
    assert told in done.output
    assert "train cases" in done.output  # and what there is to say of the data


def test_inspect_says_no_where_all_labels_are_empty(other: Path, study_folder: Path) -> None:
    for file in (other / "data").glob("*/*seg.nii.gz"):
        label = nib.load(file)
        nib.save(nib.Nifti1Image(np.zeros(label.shape, np.uint8), label.affine), file)
    done = _inspect(other, study_folder)
    assert done.exit_code == 1
    assert "train: all of its 1 labels are empty" in done.output


def test_inspect_leaves_out_the_same_images_under_another_patients_id(other: Path, study_folder: Path) -> None:
    one, *_, last = sorted((other / "data").iterdir())
    for file in last.iterdir():
        if "seg" not in file.name:
            shutil.copy(one / file.name.replace(last.name, one.name), file)
    done = _inspect(other, study_folder)
    assert "case_duplicated" in done.output
    assert f"{last.name}: its images are those of {one.name}" in done.output
    assert "too_few_cases" in done.output  # each split had one case


def test_inspect_names_the_section_that_a_study_reads(tmp_path: Path, study_folder: Path) -> None:
    file = tmp_path / "site.yaml"
    file.write_text("name: hospital-a\ndata:\n  clinical_risk: {}\n")
    done = CLI.invoke(app, ["site", "inspect", str(file), "--study", str(study_folder)])
    assert done.exit_code == 2
    assert "has no section data.brain_tumor" in done.output
    assert "it has data.clinical_risk" in done.output
    assert "--study" in done.output


def test_how_hospitals_write_is_on_or_off(tmp_path: Path) -> None:
    small = ["--hospitals", "2", "--rows", "20"]
    files = [tmp_path / name / "hospital-b" / "data" / "stays.csv" for name in ("own", "alike")]
    for file, options in zip(files, ([], ["--no-schema-shift"]), strict=True):
        done = CLI.invoke(app, ["synth", "clinical-risk", str(file.parents[2]), *small, *options])
        assert done.exit_code == 0, done.output
    assert [file.read_text(encoding="utf-8-sig").split()[0][:10] for file in files] == ["PatientenN", "patient,st"]
    assert CLI.invoke(app, ["synth", "clinical-risk", str(tmp_path / "c"), "--schema-shift", "0.5"]).exit_code == 2


@pytest.mark.parametrize("kind", ["clinical-risk", "brain-tumor"])
def test_hospitals_that_are_there_are_replaced_on_request_alone(tmp_path: Path, kind: str) -> None:
    small = {"clinical-risk": ["--rows", "20"], "brain-tumor": ["--size", "16", "--train", "1", "--test", "1"]}[kind]
    command = ["synth", kind, str(tmp_path), *small]
    assert CLI.invoke(app, [*command, "--hospitals", "2"]).exit_code == 0
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    done = CLI.invoke(app, [*command, "--hospitals", "1", "--seed", "1"])
    assert done.exit_code == 2
    assert "it has hospital-a, hospital-b already; name a new folder, or replace with --overwrite" in " ".join(
        done.output.split()
    )
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before
    assert CLI.invoke(app, [*command, "--hospitals", "1", "--seed", "1", "--overwrite"]).exit_code == 0
    assert [folder.name for folder in tmp_path.iterdir()] == ["hospital-a"]
    after = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    assert [file for file in after if before.get(file) != after[file]]
