"""jobs/brain_tumor/job.py as a person starts it."""

import os
import subprocess
import sys
from pathlib import Path

import wardround

SCRIPT = Path(__file__).parents[2] / "jobs" / "brain_tumor" / "job.py"


def start(*arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "PYTHONPATH": str(Path(wardround.__file__).parents[1]), "COLUMNS": "100"}
    command = [sys.executable, str(SCRIPT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)


def test_help_shows_the_scripts_own_usage() -> None:
    done = start("--help")
    assert done.returncode == 0, done.stderr
    assert "Usage: job.py [OPTIONS]" in done.stdout
    assert "STUDY" not in done.stdout
    assert "--export-dir" in done.stdout


def test_export_writes_the_job_and_warns_of_nothing(tmp_path: Path) -> None:
    done = start("--export", "--export-dir", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "UserWarning" not in done.stderr
    assert list(tmp_path.rglob("job.yaml"))
