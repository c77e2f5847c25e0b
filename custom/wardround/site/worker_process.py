"""A site's worker: the process that holds its data and network, and does what the executor's process asks for.

    python -P -m wardround.site.worker_process SITE FILE_DESCRIPTOR

It ends when the pipe closes, which the kernel sees to however the other process ends.
"""

import contextlib
import logging
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import torch
from torch import Tensor

from wardround.learners.pausing import Paused
from wardround.records.orders import Order, Reply
from wardround.records.reasons import WardroundError
from wardround.site.site_log import code_of, open_first_site_log
from wardround.site.tasks import SiteTasks
from wardround.site.worker_messages import Answer, Opening, Request, Tensors, receive_request, send

_log = logging.getLogger("wardround.site.worker_process")  # __name__ is __main__ here, which has no log of ours

_Do = Callable[[str, Order, Tensors | None], tuple[Reply, dict[str, Tensor] | None]]


def main(connection: Connection) -> None:
    """A worker's life: one task after another until the pipe is closed."""
    opening: Opening = connection.recv()
    open_first_site_log([opening.log_folder] if opening.log_folder else [])
    torch.set_num_threads(opening.threads)
    pause = threading.Event()
    requests: queue.SimpleQueue[tuple[Request, Tensors | None]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(connection, requests, pause), daemon=True).start()
    tasks = SiteTasks(opening.study, opening.config, pause_wanted=pause.is_set)
    while True:
        request, tensors = requests.get()
        assert request.order is not None
        answer, result = outcome(tasks.do, request.task, request.order, tensors)
        send(connection, answer, result)


def outcome(do: _Do, task: str, order: Order, shared: Tensors | None) -> tuple[Answer, dict[str, Tensor] | None]:
    """Does a task; whatever goes wrong becomes a code, and its words a line of the site's log."""
    # SystemExit and the like are failures here too: the executor waits for an answer
    try:
        reply, tensors = do(task, order, shared)
    except Paused as paused:
        _log.info("%s", paused)
        return Answer(kind="paused"), None
    except BaseException as error:
        _log.exception("%s failed", task)
        return Answer(kind="failed", reply=Reply(error=code_of(error)), sound=_sound(error)), None
    return Answer(kind="done", reply=reply), tensors


def _sound(error: BaseException) -> bool:
    """Whether this process can go on: not where memory ran out, or after an error that a GPU's context may not survive.

    A new process opens all data anew, which can make the site late for a round, so an ordinary error is no reason.
    """
    if isinstance(error, WardroundError):
        return True
    return isinstance(error, Exception) and not isinstance(error, MemoryError) and not torch.cuda.is_initialized()


def _listen(
    connection: Connection, requests: "queue.SimpleQueue[tuple[Request, Tensors | None]]", pause: threading.Event
) -> None:
    """Hears a request to pause in the middle of a task, and the end of the other process at any time."""
    try:
        while True:
            request, tensors = receive_request(connection)
            if request.kind == "pause":
                pause.set()
            else:
                pause.clear()  # one that came too late for the task before
                requests.put((request, tensors))
    except (EOFError, OSError):
        os.killpg(0, signal.SIGKILL)  # this process and whatever it has started; nobody waits for a result


def _yield_memory_first() -> None:
    """Asks Linux, where memory runs out, to end this process rather than FLARE's, which a whole job depends on."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")


if __name__ == "__main__":
    _yield_memory_first()
    os.set_inheritable(int(sys.argv[2]), False)
    with contextlib.suppress(EOFError, OSError):
        main(Connection(int(sys.argv[2])))
