"""A worker that answers as it is told to, for `SupervisedTasks`."""

from collections.abc import Callable, Mapping

from torch import Tensor

from wardround.records.orders import Order, Reply
from wardround.site.worker_messages import Answer, Opening

Turn = Answer | BaseException | None  # None: still working


class PlayedWorkers:
    """Starts workers, each with the next script: what it answers at each look."""

    def __init__(self, *scripts: list[Turn], on_look: Callable[[], None] = lambda: None) -> None:
        self._scripts = list(scripts)
        self._on_look = on_look
        self.started: list[PlayedWorker] = []

    def __call__(self, opening: Opening) -> "PlayedWorker":
        worker = PlayedWorker(self._scripts.pop(0), self._on_look)
        self.started.append(worker)
        return worker


class PlayedWorker:
    def __init__(self, script: list[Turn], on_look: Callable[[], None]) -> None:
        self._script, self._on_look = script, on_look
        self.alive = True
        self.asked: list[str] = []
        self.pauses = 0

    def ask(self, task: str, order: Order, shared: Mapping[str, Tensor] | None) -> None:
        self.asked.append(task)

    def pause(self) -> None:
        self.pauses += 1

    def answer(self, seconds: float) -> tuple[Answer, None] | None:
        self._on_look()
        turn = self._script.pop(0)
        if isinstance(turn, BaseException):
            raise turn
        return None if turn is None else (turn, None)

    def end(self) -> None:
        self.alive = False


def done(reply: Reply | None = None) -> Answer:
    return Answer(kind="done", reply=reply or Reply())
