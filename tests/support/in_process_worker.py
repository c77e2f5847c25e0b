"""A site's worker without a process: the same tasks, done at once where they are asked for."""

from collections.abc import Mapping

from torch import Tensor

from wardround.records.orders import Order
from wardround.site.tasks import SiteTasks
from wardround.site.worker_messages import Answer, Opening
from wardround.site.worker_process import outcome


class InProcessWorker:
    """What `SupervisedTasks` asks of a worker."""

    def __init__(self, opening: Opening) -> None:
        self.tasks = SiteTasks(opening.study, opening.config)
        self.alive = True
        self._answer: tuple[Answer, dict[str, Tensor] | None] | None = None

    def ask(self, task: str, order: Order, shared: Mapping[str, Tensor] | None) -> None:
        self._answer = outcome(self.tasks.do, task, order, None if shared is None else dict(shared))

    def pause(self) -> None:
        raise AssertionError("a task that is done at once is not paused")

    def answer(self, seconds: float) -> tuple[Answer, dict[str, Tensor] | None] | None:
        answered, self._answer = self._answer, None
        return answered

    def end(self) -> None:
        self.alive = False
