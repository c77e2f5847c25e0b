"""YAML that people write: what is there twice or cannot be read is told, with file and line."""

from datetime import date
from pathlib import Path

import pytest

from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import load_study
from wardround.records.yaml_text import read_settings, yaml_value
from wardround.site.config import load_site_config

STUDY = """\
name: small
workload: {kind: brain_tumor}
training: {rounds: 1, local_steps: 1, learning_rate: 0.01}
evaluation: {key_metric: dice_mean}
"""
SITE = "name: hospital-a\ndata:\n  brain_tumor: {folder: images}\n"


@pytest.mark.parametrize("more", ["name: other\n", "federation: {quorum: 3, quorum: 2}\n"])
def test_a_key_that_is_twice_in_job_yaml_is_refused(tmp_path: Path, more: str) -> None:
    (tmp_path / "job.yaml").write_text(STUDY + more)
    with pytest.raises(WardroundError, match="is there twice") as raised:
        load_study(tmp_path)
    assert "job.yaml" in str(raised.value)
    assert "line" in str(raised.value)


def test_a_key_that_is_twice_in_site_yaml_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "site.yaml"
    file.write_text(SITE + "name: hospital-b\n")
    with pytest.raises(WardroundError, match="name is there twice"):
        load_site_config(file)


def test_merge_keys_may_repeat_and_be_overridden() -> None:
    text = "a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3}\nc: {x: 1}\n"
    assert yaml_value(text, "here")["b"] == {"x": 3, "y": 2}


@pytest.mark.parametrize("override", ["training.rounds=[1", "training.rounds={a: 1, a: 2}", "seed=2024-13-45"])
def test_an_override_that_is_no_yaml_is_told(tmp_path: Path, override: str) -> None:
    (tmp_path / "job.yaml").write_text(STUDY)
    with pytest.raises(WardroundError, match="--set") as raised:
        load_study(tmp_path, (override,))
    assert raised.value.code is Reason.CONFIGURATION_INVALID


def test_a_folder_in_a_files_place_is_told(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").mkdir()
    with pytest.raises(WardroundError, match=r"job\.yaml: Is a directory"):
        load_study(tmp_path)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"[" * 5000, b"- a list\n", b"a: !!python/object:os.system x\n"])
def test_what_is_no_mapping_of_settings_is_told(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "site.yaml"
    file.write_bytes(content)
    with pytest.raises(WardroundError, match=r"site\.yaml"):
        read_settings(file, expected="a site.yaml")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("20:00", "20:00"),  # by YAML 1.1 the number 1200
        ("0700", "0700"),  # 448
        ("1:30.5", "1:30.5"),  # 90.5
        ("0", 0),
        ("-12", -12),
        ("1_000", 1000),
        ("0x1f", 31),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1.0e-3", 0.001),
        (".inf", float("inf")),
        ("2024-03-01", date(2024, 3, 1)),
        ("yes", True),
    ],
)
def test_numbers_are_those_that_are_written(text: str, value: object) -> None:
    assert yaml_value(text, "here") == value
    assert type(yaml_value(text, "here")) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        "data: {clinical_risk: &x {folder: *x}}",
        "a: &a [1, *a]",
        "a: &a {<<: {b: &b {c: *b}}}",
        "\n".join(["a0: &a0 [1]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9))]),
    ],
)
def test_a_part_that_is_in_itself_or_grows_without_measure_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "site.yaml"
    file.write_text("name: hospital-a\n" + text)
    with pytest.raises(WardroundError, match=r"site\.yaml: not readable as YAML: .*alias"):
        load_site_config(file)
