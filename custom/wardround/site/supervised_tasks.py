"""A site's tasks as its executor sees them: done in a worker process, within the hospital's rules."""

import logging
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol

from torch import Tensor

from wardround.records.orders import TRAIN, Order, Reply
from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import Study
from wardround.site.config import SiteConfig
from wardround.site.permission import Refusal, site_permission
from wardround.site.worker import Worker
from wardround.site.worker_messages import Answer, Opening, Tensors

_log = logging.getLogger(__name__)

_LOOK_SECONDS = 0.2  # between two looks at FLARE's abort signal
_ASK_SECONDS = 1.0  # between two questions to the hospital's rules

Result = tuple[Reply, Mapping[str, Tensor] | None]


class WorkerLike(Protocol):
    """What is asked of `Worker`."""

    @property
    def alive(self) -> bool: ...  # noqa: D102

    def ask(self, task: str, order: Order, shared: Mapping[str, Tensor] | None) -> None: ...  # noqa: D102

    def pause(self) -> None: ...  # noqa: D102

    def answer(self, seconds: float) -> tuple[Answer, Tensors | None] | None: ...  # noqa: D102

    def end(self) -> None: ...  # noqa: D102


class SupervisedTasks:
    """The worker starts at the first order, does one after another, and is started anew after it died.

    FLARE fails a whole job where one site's job process dies. So this process, which is that one, holds no data and
    no network: whatever brings the worker down (too little memory, a crash in a library or driver) costs the site
    one answer. What a site keeps between rounds is in its state folder, so the next worker goes on from there.

    The hospital's rules are asked before a task, and every second while it runs. Where its time is over, training is
    paused and the worker ended, which frees the device. Where it opens again before the server's deadline, the site
    waits and goes on; otherwise it answers `not_now`, and goes on if it is asked for the same round again.

    Args:
        study, config: what the worker opens.
        threads: of the worker.
        log_folder: where site.log is, if it can be anywhere.
        start: makes a worker.
    """

    def __init__(
        self,
        study: Study,
        config: SiteConfig,
        *,
        threads: int,
        log_folder: Path | None,
        start: Callable[[Opening], WorkerLike] = Worker,
    ) -> None:
        self._opening = Opening(study, config, threads, log_folder)
        self._start = start
        self._worker: WorkerLike | None = None
        self._permission = site_permission(study, config)

    def do(self, task: str, order: Order, shared: Mapping[str, Tensor] | None, aborted: Callable[[], bool]) -> Result:
        """Does a task.

        Args:
            task, order, shared: as for `SiteTasks.do`.
            aborted: whether FLARE has ended the job; looked at all the time.

        Raises:
            WardroundError: the hospital does not allow it, the worker died, or the job was ended.
        """
        deadline = _now() + timedelta(seconds=order.deadline_seconds)
        if refusal := self._permission.refusal(task, _now()):
            self.end()  # an idle worker may hold a GPU's memory
            raise refusal.error()
        while True:
            try:
                answer, tensors = self._run(task, order, shared, aborted)
            except BaseException:
                self.end()
                raise
            if answer.kind != "paused":
                if not answer.sound:
                    self.end()
                return answer.reply, tensors
            self.end()
            self._hold(task, deadline, aborted)

    def end(self) -> None:
        """Ends the worker, if there is one; the next task starts another."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.end()

    def _run(
        self, task: str, order: Order, shared: Mapping[str, Tensor] | None, aborted: Callable[[], bool]
    ) -> tuple[Answer, Tensors | None]:
        """One try, until the worker answers."""
        if self._worker is not None and not self._worker.alive:
            _log.warning("the worker process died between two tasks; another is started")
            self.end()
        worker = self._worker = self._worker or self._start(self._opening)
        worker.ask(task, order, shared)
        asked = time.monotonic()
        while (answered := worker.answer(_LOOK_SECONDS)) is None:
            _refuse_aborted(aborted)
            if time.monotonic() - asked < _ASK_SECONDS:
                continue
            asked = time.monotonic()
            if refusal := self._permission.refusal(task, _now()):
                if task != TRAIN or refusal.reason is not Reason.NOT_NOW:
                    raise refusal.error()
                worker.pause()
        return answered

    def _hold(self, task: str, deadline: datetime, aborted: Callable[[], bool]) -> None:
        """Waits until a paused task may go on, if that is before the deadline."""
        told: Refusal | None = None
        while refusal := self._permission.refusal(task, _now()):
            if refusal.until is None or refusal.until >= deadline:
                raise refusal.error()
            if told is None:
                _log.info("%s waits until %s: %s", task, refusal.until, refusal.told)
                told = refusal
            time.sleep(_LOOK_SECONDS)
            _refuse_aborted(aborted)


def _refuse_aborted(aborted: Callable[[], bool]) -> None:
    if aborted():
        raise WardroundError(Reason.INTERRUPTED, "FLARE has ended the job; the task is given up")


def _now() -> datetime:
    return datetime.now(UTC)
