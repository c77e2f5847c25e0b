"""A site's tasks as its executor sees them: done in a worker process, within the hospital's rules."""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from torch import Tensor

from wardround.records.arms import ALONE
from wardround.records.orders import TRAIN, VALIDATE, Order, Reply
from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import Study
from wardround.site.config import SiteConfig
from wardround.site.device_hours import DeviceHours, Meter
from wardround.site.permission import site_permission
from wardround.site.worker import Worker, WorkerLike
from wardround.site.worker_messages import Answer, Opening, Tensors

_log = logging.getLogger(__name__)

_LOOK_SECONDS = 0.2  # between two looks at FLARE's abort signal
_ASK_SECONDS = 1.0  # between two questions to the hospital's rules
_WRITE_SECONDS = 10.0  # between two entries in the ledger of hours
_IDLE_SECONDS = 60.0  # of a worker outside the hospital's hours; scores come in several tasks

Result = tuple[Reply, Mapping[str, Tensor] | None]
Asked = Callable[[], bool]


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
        self._busy = threading.Lock()
        self._timer: threading.Timer | None = None

    def do(
        self,
        task: str,
        order: Order,
        shared: Mapping[str, Tensor] | None,
        aborted: Asked,
        closed: Asked = lambda: False,
    ) -> Result:
        """Does a task.

        Args:
            task, order, shared: as for `SiteTasks.do`.
            aborted: whether FLARE has ended the job; looked at all the time.
            closed: whether the server has closed the round; asked while the site waits for its hours. Training that
                runs goes on: the next round would find the site no faster, with a worker to start first.

        Raises:
            WardroundError: the hospital does not allow it, the worker died, the job was ended, or the round was closed
                in the meantime.
        """
        deadline, rules = _now() + timedelta(seconds=order.deadline_seconds), _as_the_rules_see_it(task, order)
        with self._busy:
            try:
                if refusal := self._permission.refusal(rules, _now()):
                    raise refusal.error()
                while (answered := self._run(task, order, shared, aborted))[0].kind == "paused":
                    self.end()
                    self._hold(rules, deadline, aborted, closed)
            finally:
                self._watch_while_idle()
        answer, tensors = answered
        if not answer.sound:
            self.end()
        return answer.reply, tensors

    def end(self) -> None:
        """Ends the worker, if there is one; the next task starts another."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.end()

    def _run(
        self, task: str, order: Order, shared: Mapping[str, Tensor] | None, aborted: Asked
    ) -> tuple[Answer, Tensors | None]:
        """One try, until the worker answers. Where it does not, none is left."""
        if self._worker is not None and not self._worker.alive:
            _log.warning("the worker process died between two tasks; another is started")
            self.end()
        try:
            worker = self._worker = self._worker or self._start(self._opening)
            worker.ask(task, order, shared)
            return self._wait(worker, _as_the_rules_see_it(task, order), aborted)
        except BaseException:
            self.end()
            raise

    def _wait(self, worker: WorkerLike, task: str, aborted: Asked) -> tuple[Answer, Tensors | None]:
        asked, meter = time.monotonic(), self._meter(task)
        try:
            while (answered := worker.answer(_LOOK_SECONDS)) is None:
                _refuse_aborted(aborted)
                if time.monotonic() - asked < _ASK_SECONDS:
                    continue
                asked = time.monotonic()
                if meter:
                    meter.tick(every_seconds=_WRITE_SECONDS)
                if refusal := self._permission.refusal(task, _now()):
                    if task != TRAIN or refusal.reason is not Reason.NOT_NOW:
                        raise refusal.error()
                    worker.pause()
            return answered
        finally:
            if meter:
                meter.tick()

    def _meter(self, task: str) -> Meter | None:
        """Where the site counts its hours; preparing reads and holds no device."""
        config = self._opening.config
        if config.training_windows is None or task not in (TRAIN, VALIDATE):
            return None
        return Meter(DeviceHours(config.state_folder), config.training_windows.day)

    def _hold(self, task: str, deadline: datetime, aborted: Asked, closed: Asked) -> None:
        """Waits until a paused task may go on, if that is before the deadline."""
        told = False
        while refusal := self._permission.refusal(task, _now()):
            if refusal.until is None or refusal.until >= deadline:
                raise refusal.error()
            if not told:
                _log.info("%s waits: %s", task, refusal.told)
                told = True
            asked = time.monotonic()
            while time.monotonic() - asked < _ASK_SECONDS:
                time.sleep(_LOOK_SECONDS)
                _refuse_aborted(aborted)
            if closed():
                raise WardroundError(Reason.LATE, f"{task}: the round was closed while this site waited for its hours")

    def _watch_while_idle(self) -> None:
        """An idle worker holds its device's memory: once training is not allowed any more, it is ended."""
        if self._timer:
            self._timer.cancel()
        if self._worker is None or self._opening.config.training_windows is None:
            return
        self._timer = threading.Timer(_IDLE_SECONDS, self._end_if_idle)
        self._timer.daemon = True
        self._timer.start()

    def _end_if_idle(self) -> None:
        if not self._busy.acquire(blocking=False):
            return  # the task that runs will have it watched again
        try:
            if self._permission.refusal(TRAIN, _now()):
                self.end()
            self._watch_while_idle()
        finally:
            self._busy.release()


def _as_the_rules_see_it(task: str, order: Order) -> str:
    """The site's own model is asked for as scores, and takes as many steps as all rounds together."""
    return TRAIN if task == VALIDATE and order.arm == ALONE else task


def _refuse_aborted(aborted: Asked) -> None:
    if aborted():
        raise WardroundError(Reason.INTERRUPTED, "FLARE has ended the job; the task is given up")


def _now() -> datetime:
    return datetime.now(UTC)
