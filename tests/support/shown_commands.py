"""Commands of a page of docs/, run as they stand there in one folder with the shipped project's files."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from support.provisioned import ROOT

_BLOCK = re.compile(r"^```bash\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks_of(page: str, heading: str) -> list[str]:
    """The blocks of commands under one heading."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    section = re.split(r"\n##+ ", text.split(f"# {heading}\n")[1])[0]
    return _BLOCK.findall(section)


class Shell:
    """bash in one folder: what one block exports is there in the next.

    Args:
        folder: gets copies of docker/, site_configs/ and pyproject.toml, and this Python's `wardround` and `nvflare`.
        environment: added to this process' own.
    """

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder = folder
        for name in ("docker", "site_configs"):
            shutil.copytree(ROOT / name, folder / name)
        shutil.copy(ROOT / "pyproject.toml", folder)
        commands, home = folder / ".bin", folder / "home"
        commands.mkdir()
        home.mkdir()
        for name, module in {"wardround": "wardround.cli.main", "nvflare": "nvflare.cli"}.items():
            (commands / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n', encoding="utf-8")
            (commands / name).chmod(0o755)
        self._environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT / "custom"),
            "HOME": str(home),  # FLARE writes ~/.nvflare
            "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
            **environment,
        }

    def run(self, block: str, replace: Mapping[str, str] | None = None) -> str:
        """Runs a block; returns what it printed. `replace` changes what only another machine has, such as a path."""
        for old, new in (replace or {}).items():
            block = block.replace(old, new)
        exported = self.folder / ".exported"
        script = f"set -euo pipefail\n[ ! -f {exported} ] || . {exported}\n{block}\nexport -p >{exported}\n"
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=900,
        )
        output = done.stdout + done.stderr
        assert done.returncode == 0, f"{block}\nended with {done.returncode}:\n{output}"
        return output
