"""Child processes that leave nothing behind: everything started here carries a mark and can be found by it."""

import contextlib
import os
import signal
import subprocess
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import psutil

_REQUESTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)

MARK = "WARDROUND_MARK"


class MarkedProcesses:
    """Starts commands and can end all that came of them, grandchildren that left their group included.

    FLARE's simulator and POC start processes in sessions of their own, which outlive a killed parent. The mark in
    their environment finds them; nothing else is ever touched.
    """

    def __init__(self, environment: dict[str, str] | None = None, *, mark: str | None = None) -> None:
        self.mark = mark or uuid.uuid4().hex
        self.environment = {**os.environ, **(environment or {}), MARK: self.mark}

    def start(self, command: list[str], log: Path, *, folder: Path | None = None) -> subprocess.Popen[bytes]:
        """Starts one command with its output appended to `log`."""
        with log.open("ab") as stream:
            return subprocess.Popen(  # noqa: S603  the command is built here, of our own parts
                command,
                stdout=stream,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env=self.environment,
                cwd=folder,
                start_new_session=True,  # Ctrl-C reaches us alone; we then end the children in order
            )

    def alive(self) -> list[psutil.Process]:
        """All living processes with the mark."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):
                if process.environ().get(MARK) == self.mark and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found

    def end_all(self, grace_seconds: float = 3.0) -> None:
        """Asks all of them to stop, waits, and kills the rest. A further Ctrl-C does not cut this short."""
        with _not_interrupted():
            for request in (signal.SIGTERM, signal.SIGKILL, signal.SIGKILL):
                living = self.alive()
                if not living:
                    return
                for process in living:
                    with contextlib.suppress(psutil.Error):
                        process.send_signal(request)
                psutil.wait_procs(living, timeout=grace_seconds)


def lives(process: int | None, started: float | None) -> bool:
    """Whether a process is still there: by its id and by when it began, since ids recur."""
    if process is None:
        return False
    try:
        return bool(psutil.Process(process).create_time() == started)
    except psutil.Error:
        return False


@contextlib.contextmanager
def _not_interrupted() -> Iterator[None]:
    """Ignores requests to stop: an impatient second one would leave processes behind."""
    if threading.current_thread() is not threading.main_thread():  # signals reach the main thread alone
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in _REQUESTS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
