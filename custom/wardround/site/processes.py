"""Several pieces of work side by side, each in a fresh process, none of which outlives the call."""

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, cast

from wardround.records.reasons import Reason, WardroundError

logger = logging.getLogger(__name__)

Emit = Callable[[Any], None]


@dataclass(frozen=True)
class Task:
    """Work under a name: `work(*arguments, emit)`, all of it picklable. What it emits reaches the caller in order."""

    name: str
    work: Callable[..., None]
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class _Finished:
    """A child's last word; without it, the process died."""

    code: Reason | None = None
    message: str = ""


def run_side_by_side(tasks: Sequence[Task], on_message: Emit, *, cores: int | None = None) -> None:
    """Runs all tasks, as many at a time as there are cores, in the order given.

    Each process gets its share of the cores as threads, and waits passively: torch's default of all cores in each
    costs nearly four times the time.

    Raises:
        WardroundError: a task failed or its process died; the message starts with its name, and the others are ended.
    """
    cores = cores or available_cores()
    workers = max(1, min(len(tasks), cores))
    waiting, running = list(tasks), dict[Connection, tuple[Task, BaseProcess]]()
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                task = waiting.pop(0)
                receiver, process = _start(task, max(1, cores // workers))
                running[receiver] = (task, process)
            for ready in wait(list(running)):
                receiver = cast(Connection, ready)
                if _receive(receiver, *running[receiver], on_message):
                    running.pop(receiver)[1].join()
                    receiver.close()
    finally:
        for _, process in running.values():
            process.terminate()
        for receiver, (_, process) in running.items():
            process.join(5)
            if process.is_alive():
                process.kill()
                process.join()
            receiver.close()


def available_cores() -> int:
    """Cores that this process may use: fewer than the machine's in a container or under a scheduler."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _start(task: Task, threads: int) -> tuple[Connection, BaseProcess]:
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(task, sender), name=task.name, daemon=True)
    with _for_children(threads):
        process.start()
    sender.close()  # the child's copy is the only one left, so that its death ends the pipe
    return receiver, process


def _receive(receiver: Connection, task: Task, process: BaseProcess, on_message: Emit) -> bool:
    """Hands on one message; True where it was the last."""
    try:
        message = receiver.recv()
    except EOFError:
        process.join()
        raise WardroundError(
            Reason.SITE_FAILED,
            f"{task.name}: its process ended with exit code {process.exitcode} before it was done; "
            "-9 is most often too little memory",
        ) from None
    if not isinstance(message, _Finished):
        on_message(message)
        return False
    if message.code is not None:
        raise WardroundError(message.code, f"{task.name}: {message.message}")
    return True


def _child(task: Task, sender: Connection) -> None:
    try:
        task.work(*task.arguments, sender.send)
        last = _Finished()
    except WardroundError as error:
        last = _Finished(error.code, str(error))
    except Exception as error:
        logger.exception("%s failed", task.name)
        last = _Finished(Reason.SITE_FAILED, f"{type(error).__name__}: {error}")
    with suppress(OSError):  # the parent may be gone
        sender.send(last)


@contextmanager
def _for_children(threads: int) -> Iterator[None]:
    """Environment that torch reads as it loads; and Ctrl-C left to the parent, which ends its children."""
    changes = {"OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "PASSIVE"}
    before = {name: os.environ.get(name) for name in changes}
    on_main = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN) if on_main else None
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        if on_main:
            signal.signal(signal.SIGINT, handler)
