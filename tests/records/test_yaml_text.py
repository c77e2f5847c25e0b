"""YAML that people write: what is there twice or cannot be read is told, with file and line."""

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
