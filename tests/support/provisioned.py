"""Startup kits of the shipped project, made by FLARE's own command with a home of its own."""

import os
import subprocess
import sys
from pathlib import Path

import wardround

ROOT = Path(wardround.__file__).parents[2]
CONFIGS = ROOT / "site_configs"


def nvflare(home: Path, *arguments: str, cwd: Path | None = None, expect: int = 0) -> str:
    """Runs an `nvflare` command; returns what it printed to both streams."""
    home.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "HOME": str(home), "PYTHONPATH": str(ROOT / "custom")}
    command = [sys.executable, "-m", "nvflare.cli", *arguments]
    done = subprocess.run(command, cwd=cwd or home, env=environment, capture_output=True, text=True, timeout=120)
    output = done.stdout + done.stderr
    assert done.returncode == expect, output
    return output


def provision(folder: Path, project: Path = CONFIGS / "project.yml") -> Path:
    """Provisions into `folder`; returns the newest prod_NN with a folder a participant."""
    nvflare(folder / "home", "provision", "-p", str(project), "-w", str(folder / "kits"), "--force")
    return max((folder / "kits" / "wardround").glob("prod_*"))


def edit(file: Path, before: str, after: str) -> None:
    """Replaces a text that has to be there."""
    text = file.read_text(encoding="utf-8")
    assert before in text
    file.write_text(text.replace(before, after), encoding="utf-8")
