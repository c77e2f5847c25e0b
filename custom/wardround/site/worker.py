"""The executor's side of a site's worker process: start, ask, look, end."""

import contextlib
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from multiprocessing.connection import Pipe
from pathlib import Path
from typing import IO, Protocol

from torch import Tensor

from wardround.records.files import private_file
from wardround.records.orders import Order
from wardround.records.reasons import Reason, WardroundError
from wardround.site.site_log import FILE_NAME
from wardround.site.worker_messages import Answer, Opening, Request, Tensors, receive_answer, send

_log = logging.getLogger(__name__)

_MODULE = "wardround.site.worker_process"
_GRACE_SECONDS = 2.0


class WorkerLike(Protocol):
    """What is asked of `Worker`."""

    @property
    def alive(self) -> bool: ...  # noqa: D102

    def ask(self, task: str, order: Order, shared: Mapping[str, Tensor] | None) -> None: ...  # noqa: D102

    def pause(self) -> None: ...  # noqa: D102

    def answer(self, seconds: float) -> tuple[Answer, Tensors | None] | None: ...  # noqa: D102

    def end(self) -> None: ...  # noqa: D102


class Worker:
    """One worker process.

    A fresh interpreter rather than multiprocessing's spawn, which would import FLARE's main module into it, and
    rather than a fork, which a process with threads and CUDA does not survive. It leads a group of its own, so that
    whatever it starts ends with it.

    Args:
        opening: what it is to open.
    """

    def __init__(self, opening: Opening) -> None:
        self._connection, theirs = Pipe()
        # a crash in a library says where, in the site's log
        command = [sys.executable, "-P", "-X", "faulthandler", "-m", _MODULE, opening.config.name, str(theirs.fileno())]
        with _words(opening.log_folder) as words:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                command,
                stdin=subprocess.DEVNULL,
                stdout=words,
                stderr=words,
                env=_environment(opening.threads),
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        theirs.close()  # the worker's copy is the only one left, so that its death ends the pipe
        self._ended = False
        _log.info("worker process %d started", self.pid)
        try:
            self._connection.send(opening)
        except OSError:
            raise self._died() from None

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return not self._ended and self._process.poll() is None

    def ask(self, task: str, order: Order, shared: Mapping[str, Tensor] | None) -> None:
        """Gives it a task; one at a time.

        Raises:
            WardroundError: `worker_died`.
        """
        self._send(Request(kind="do", task=task, order=order), shared)

    def pause(self) -> None:
        """Asks it to stop where the task can go on later; see `ask`."""
        self._send(Request(kind="pause"), None)

    def answer(self, seconds: float) -> tuple[Answer, Tensors | None] | None:
        """Its answer, or None where there is none within `seconds`.

        Raises:
            WardroundError: `worker_died`.
        """
        try:
            if self._connection.poll(seconds):
                return receive_answer(self._connection)
        except (EOFError, OSError):
            raise self._died() from None
        # children of its own may hold its end of the pipe
        if self._process.poll() is not None and not self._connection.poll(0):
            raise self._died()
        return None

    def end(self) -> None:
        """Ends it and what it has started, and waits until it is gone."""
        if self._ended:
            return
        self._ended = True
        self._connection.close()  # which it takes as the end
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE_SECONDS)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()

    def _send(self, request: Request, shared: Mapping[str, Tensor] | None) -> None:
        try:
            send(self._connection, request, shared)
        except OSError:
            raise self._died() from None

    def _died(self) -> WardroundError:
        self.end()
        code = self._process.returncode
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return WardroundError(
            Reason.WORKER_DIED,
            f"the worker process ended with {how} before it was done; SIGKILL is most often too little memory, and "
            "what else it said is in this log; the next order starts another",
        )


@contextlib.contextmanager
def _words(folder: Path | None) -> Iterator[IO[bytes] | int]:
    """Where a worker's own output goes: a library's last words can name a file, so not to FLARE's log."""
    if folder is None:
        yield subprocess.DEVNULL
        return
    try:
        stream = private_file(folder / FILE_NAME).open("ab")
    except OSError:
        yield subprocess.DEVNULL
        return
    with stream:
        yield stream


def _environment(threads: int) -> dict[str, str]:
    """This process's own, its import path, and what torch reads as it loads."""
    path = os.pathsep.join(entry for entry in sys.path if entry)
    return {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "PASSIVE"}
