"""Several pieces of work side by side, in fresh processes, none of which outlives the call."""

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
    """The last word about a task; without it, the process died."""

    code: Reason | None = None
    message: str = ""


@dataclass
class _Worker:
    """A process that does one task after another: starting one costs seconds of loading torch."""

    process: BaseProcess
    pipe: Connection
    task: Task

    def give(self, task: Task) -> None:
        self.task = task
        with suppress(ConnectionError):  # it died: receiving tells so
            self.pipe.send(task)


def run_side_by_side(tasks: Sequence[Task], on_message: Emit, *, cores: int | None = None) -> None:
    """Runs all tasks, as many at a time as there are cores, in the order given.

    Each process gets its share of the cores as threads, and waits passively: torch's default of all cores in each
    costs nearly four times the time.

    Raises:
        WardroundError: a task failed or its process died; the message starts with its name, and the others are ended.
    """
    cores = cores or available_cores()
    size = max(1, min(len(tasks), cores))
    waiting = list(tasks)
    workers: dict[Connection, _Worker] = {}
    try:
        while waiting and len(workers) < size:
            worker = _start(waiting.pop(0), max(1, cores // size))
            workers[worker.pipe] = worker
        while workers:
            for ready in wait(list(workers)):
                worker = workers[cast(Connection, ready)]
                if not _receive(worker, on_message):
                    continue
                if waiting:
                    worker.give(waiting.pop(0))
                else:
                    del workers[worker.pipe]
                    worker.pipe.close()  # nothing more to do: it ends
                    worker.process.join()
    finally:
        _end(list(workers.values()))


def available_cores() -> int:
    """Cores that this process may use: fewer than the machine's in a container or under a scheduler."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _start(task: Task, threads: int) -> _Worker:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs,), daemon=True)
    with _for_children(threads):
        process.start()
    theirs.close()  # the child's copy is the only one left, so that its death ends the pipe
    worker = _Worker(process, ours, task)
    worker.give(task)
    return worker


def _end(workers: Sequence[_Worker]) -> None:
    for worker in workers:
        worker.process.terminate()
    for worker in workers:
        worker.process.join(5)
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()
        worker.pipe.close()


def _receive(worker: _Worker, on_message: Emit) -> bool:
    """Hands on one message; True where it was the last of its task."""
    try:
        message = worker.pipe.recv()
    except (EOFError, ConnectionError):
        worker.process.join()
        raise WardroundError(
            Reason.SITE_FAILED,
            f"{worker.task.name}: its process ended with exit code {worker.process.exitcode} before it was done; "
            "-9 is most often too little memory",
        ) from None
    if not isinstance(message, _Finished):
        on_message(message)
        return False
    if message.code is not None:
        raise WardroundError(message.code, f"{worker.task.name}: {message.message}")
    return True


def _work(pipe: Connection) -> None:
    """A child's life: tasks until the pipe is closed, by the parent or by its death."""
    with suppress(EOFError, ConnectionError):
        while True:
            task: Task = pipe.recv()
            pipe.send(_outcome(task, pipe.send))


def _outcome(task: Task, emit: Emit) -> _Finished:
    try:
        task.work(*task.arguments, emit)
    except ConnectionError:
        raise  # the parent is gone
    except WardroundError as error:
        return _Finished(error.code, str(error))
    except Exception as error:
        logger.exception("%s failed", task.name)
        return _Finished(Reason.SITE_FAILED, f"{type(error).__name__}: {error}")
    return _Finished()


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
