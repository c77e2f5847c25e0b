"""Every `wardround` command that the README shows runs as it stands there, one after the other, in a new folder.

Only the amount of work is cut: generated volumes are small, and `run` gets one round of one step.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
LESS_WORK = ["training.rounds=1", "training.local_steps=1", "evaluation.personalise_steps=1"]
COMMANDS = re.findall(r"^ {4}(wardround .+)$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)


def _run(command: list[str], folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "wardround.cli.main", *command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "custom"), "COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"wardround {shlex.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_readmes_commands_run(tmp_path: Path) -> None:
    for name in ("jobs", "site_configs"):
        shutil.copytree(ROOT / name, tmp_path / name)
    _run(["synth", "brain-tumor", "demo/brain_tumor", "--size", "24"], tmp_path)
    _run(["synth", "clinical-risk", "demo/clinical_risk", "--rows", "200"], tmp_path)
    assert len(COMMANDS) >= 8
    for line in COMMANDS:
        command = shlex.split(line, comments=True)[1:]
        if command[0] == "run":
            command += [part for setting in LESS_WORK for part in ("--set", setting)]
            if "clinical_risk" in command[1]:
                command += ["--set", "training.local_epochs=null"]  # its length is in epochs
        _run(command, tmp_path)
    for file in (
        *("results/fedbn/report.html", "results/poc/report.html", "results/sweep/sweep.json"),
        "results/local-head/report.html",
    ):
        assert (tmp_path / file).stat().st_size > 0
    assert (tmp_path / "results" / "exported" / "brain_tumor" / "meta.json").is_file()
    assert (tmp_path / "results" / "prediction.nii.gz").is_file()
    assert (tmp_path / "results" / "adapted.safetensors").is_file()
    assert (tmp_path / "results" / "bundle" / "configs" / "metadata.json").is_file()
