"""bash for the commands that README.md and docs/ show, as a reader has it after `. .venv/bin/activate`."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from support.documentation import ROOT
from wardround.flare.marked_processes import MarkedProcesses

_MODULES = {"wardround": "-m wardround.cli.main", "nvflare": "-m nvflare.cli", "python3": "", "python": ""}


class Shell:
    """bash in one folder: what a block sets is there in the next, and so is the folder that it went to.

    Args:
        folder: gets `.venv` with the commands, a home, and copies of the project.
        copied: files and folders of the project.
        environment: added to this process' own.

    Attributes:
        children: everything that was started; to be ended at the end.
    """

    def __init__(self, folder: Path, copied: Iterable[str], environment: Mapping[str, str] | None = None) -> None:
        self.folder, self._state = folder, folder / ".shell"
        for name in copied:
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, folder / name)
        binaries = folder / ".venv" / "bin"
        binaries.mkdir(parents=True)
        for name, module in _MODULES.items():
            (binaries / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n', encoding="utf-8")
            (binaries / name).chmod(0o755)
        (binaries / "activate").write_text(f'PATH="{binaries}:$PATH"\n', encoding="utf-8")
        (folder / "home").mkdir()
        self.children = MarkedProcesses(
            {
                "PYTHONPATH": str(ROOT / "custom"),
                "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}",
                "HOME": str(folder / "home"),  # FLARE writes ~/.nvflare
                "COLUMNS": "120",
                "OMP_NUM_THREADS": "1",
                **(environment or {}),
            }
        )
        self._state.write_text(f"cd '{folder}'\n", encoding="utf-8")

    def run(self, block: str, replace: Mapping[str, str] | None = None) -> str:
        """Runs a block; returns what it printed. `replace` changes what only another machine has, such as a path."""
        for old, new in (replace or {}).items():
            block = block.replace(old, new)
        script = f"set -euo pipefail\n. {self._state}\nset -a\n{block}\nset +a\n"
        script += f"{{ export -p; echo \"cd '$PWD'\"; }} > {self._state}\n"
        with tempfile.NamedTemporaryFile(prefix=".output-", dir=self.folder) as log:  # blocks may run side by side
            process = self.children.start(["bash", "-c", script], Path(log.name), folder=self.folder)
            try:
                code = process.wait(1500)
            except subprocess.TimeoutExpired:
                self.children.end_all()
                raise
            output = Path(log.name).read_text(encoding="utf-8", errors="replace")
        assert code == 0, f"{block}\nended with {code}:\n{output}"
        return output
