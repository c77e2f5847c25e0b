"""Each study's job.py as a person starts it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import wardround

SCRIPTS = sorted((Path(__file__).parents[2] / "jobs").glob("*/job.py"))


def start(script: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "PYTHONPATH": str(Path(wardround.__file__).parents[1]), "COLUMNS": "100"}
    command = [sys.executable, str(script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)


def test_help_shows_the_scripts_own_usage() -> None:
    done = start(SCRIPTS[0], "--help")
    assert done.returncode == 0, done.stderr
    assert "Usage: job.py [OPTIONS]" in done.stdout
    assert "STUDY" not in done.stdout
    assert "--export-dir" in done.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.parent.name)
def test_export_writes_the_job_and_warns_of_nothing(script: Path, tmp_path: Path) -> None:
    done = start(script, "--export", "--export-dir", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "UserWarning" not in done.stderr
    assert [file.parts[len(tmp_path.parts)] for file in tmp_path.rglob("job.yaml")] == [script.parent.name]


def test_export_takes_settings(tmp_path: Path) -> None:
    done = start(SCRIPTS[0], "--export", "--export-dir", str(tmp_path), "--set", "training.rounds=77")
    assert done.returncode == 0, done.stderr
    assert "rounds: 77" in next(tmp_path.rglob("job.yaml")).read_text()
