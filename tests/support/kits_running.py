"""FLARE's own start script for each startup kit, in the foreground, with a home of its own and nothing left behind."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from support.provisioned import ROOT
from wardround.flare.marked_processes import MarkedProcesses

REGISTERED = "Successfully registered client"


class RunningKits:
    """Starts kits and reads their output."""

    def __init__(self, folder: Path) -> None:
        (folder / "home").mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self.processes = MarkedProcesses(
            {
                "HOME": str(folder / "home"),
                "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
                "PYTHONPATH": str(ROOT / "custom"),
                "OMP_NUM_THREADS": "1",
                "OMP_WAIT_POLICY": "PASSIVE",
            }
        )

    def start(self, kit: Path) -> None:
        """As FLARE's container-friendly start does: one process, which is not restarted when it ends."""
        script = str(kit / "startup" / "sub_start.sh")
        self.processes.start(["bash", script, "--once"], self._log(kit), folder=kit)

    def output(self, kit: Path) -> str:
        """What the kit's process has printed."""
        log = self._log(kit)
        return log.read_text(errors="replace") if log.is_file() else ""

    def says(self, kit: Path, text: str, *, after: int = 0) -> bool:
        """Whether the output has the text, counted from a position in it."""
        return text in self.output(kit)[after:]

    def _log(self, kit: Path) -> Path:
        return self._folder / f"{kit.name}.log"


@contextmanager
def running_kits(folder: Path) -> Iterator[RunningKits]:
    """Ends all processes at the end."""
    kits = RunningKits(folder)
    try:
        yield kits
    finally:
        kits.processes.end_all()


def wait_for(what: Callable[[], object], seconds: float = 120) -> None:
    """Waits until it holds; fails after the time."""
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.3)
