"""One task to named sites, and their answers: until all have answered, or the deadline or the grace period is over."""

import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from nvflare.app_common.abstract.fl_model import FLModel, ParamsType
from torch import Tensor

from wardround.flare import messages
from wardround.records.changed import changed
from wardround.records.orders import Order
from wardround.records.reasons import Reason
from wardround.records.task_answers import TaskAnswers

if TYPE_CHECKING:
    from wardround.flare.controller import RoundController

Receive = Callable[[FLModel], None]


class Answers:
    """The answers to one task, and FLARE's callback for it.

    Each task has its own, since FLARE hands in an answer that it was still decoding when the deadline passed: it must
    not be taken for an answer to the task that is open by then.

    Args:
        sites: who was asked.
        receive: called once an answer, one at a time; it raises to refuse.
    """

    def __init__(self, sites: Iterable[str], receive: Receive) -> None:
        self._lock = threading.Lock()
        self._receive = receive
        self._open = True
        self._waited_for = set(sites)
        self._accepted = 0
        self._lost: dict[str, str] = {}
        self._asked = time.monotonic()
        self._seconds: dict[str, float] = {}

    def __call__(self, model: FLModel) -> bool:
        """Takes an answer; False where it is not waited for, which FLARE notes as not accepted."""
        site = str((model.meta or {}).get("client_name"))
        with self._lock:
            if not self._open or site not in self._waited_for:
                return False
            self._seconds[site] = time.monotonic() - self._asked
            try:
                self._receive(model)
                self._accepted += 1
            finally:
                self._waited_for.discard(site)
        return True

    def lose(self, site: str) -> None:
        """FLARE refused a site's answer (an aborted task, a filter that failed): it will not come."""
        with self._lock:
            if self._open and site in self._waited_for:
                self._waited_for.discard(site)
                self._lost[site] = Reason.SITE_FAILED

    def close(self) -> tuple[list[str], dict[str, str]]:
        """Takes no more; returns the sites that did not answer, and those whose answer FLARE refused."""
        with self._lock:
            self._open = False
            return sorted(self._waited_for), dict(self._lost)

    @property
    def seconds(self) -> dict[str, float]:
        """How long each site took that answered."""
        with self._lock:
            return dict(self._seconds)

    @property
    def heard(self) -> frozenset[str]:
        """The sites that have answered, or whose answer FLARE refused."""
        with self._lock:
            return frozenset({*self._seconds, *self._lost})

    @property
    def settled(self) -> bool:
        """Whether every site has been heard from."""
        with self._lock:
            return not self._waited_for

    @property
    def accepted(self) -> int:
        """How many answers `receive` took."""
        with self._lock:
            return self._accepted


class Exchange:
    """Sends orders for the controller, one exchange at a time.

    FLARE's own `min_responses` counts answers, whatever is in them, so a rejected one would start the grace period
    in an accepted one's place: the quorum is counted here, over answers that `receive` accepted.
    """

    def __init__(self, controller: "RoundController") -> None:
        self._controller = controller
        self.seconds: dict[str, float] = {}  # that each site took to answer the last task
        self.lost: dict[str, str] = {}  # sites whose answer to the last task FLARE itself refused

    def ask(
        self,
        task: str,
        order: Order,
        sites: Iterable[str],
        receive: Receive,
        *,
        deadline: int,
        params: dict[str, Tensor] | None = None,
        quorum: int | None = None,
        grace: int = 0,
    ) -> list[str]:
        """Sends `task` and blocks until it is settled.

        Args:
            receive: called once an answer, one at a time; it raises to refuse.
            deadline: seconds for the whole exchange.
            quorum, grace: once so many answers were accepted, stragglers get `grace` more seconds.

        Returns:
            The sites that did not answer in time.
        """
        self.lost, self.seconds = {}, {}
        asked = sorted(sites)
        if not asked:
            return []
        answers = Answers(asked, receive)
        model = FLModel(
            params=dict(params) if params is not None else None,
            params_type=ParamsType.FULL if params is not None else None,
            metrics=None if params is not None else {},
            current_round=order.round,
            total_rounds=self._controller.num_rounds,
            meta=messages.meta(changed(order, deadline_seconds=deadline)),
        )
        task_sent = self._controller.send(model, task, targets=asked, timeout=deadline, callback=answers)
        told = TaskAnswers(task=task, round=order.round, asked=tuple(asked))
        told = self._wait(answers, time.monotonic() + deadline, quorum, grace, told)
        late, self.lost = answers.close()
        self._tell(answers, told)  # the last answer ends the wait before it is told
        self.seconds = answers.seconds
        if late:
            self._controller.cancel_task(task_sent)
        return late

    def _wait(self, answers: Answers, end: float, quorum: int | None, grace: int, told: TaskAnswers) -> TaskAnswers:
        """Waits until the task is settled; gives what was told last."""
        quorum_met_at: float | None = None
        self._controller.record.answers(told)
        while not self._controller.abort_signal.triggered and not answers.settled:
            told = self._tell(answers, told)
            now = time.monotonic()
            if quorum is not None and answers.accepted >= quorum and quorum_met_at is None:
                quorum_met_at = now
            if now > end or (quorum_met_at is not None and now > quorum_met_at + grace):
                break
            time.sleep(self._controller.task_check_period)
        return told

    def _tell(self, answers: Answers, told: TaskAnswers) -> TaskAnswers:
        """Tells who has answered since, if anybody has."""
        if heard := answers.heard - set(told.answered):
            told = changed(told, answered=(*told.answered, *sorted(heard)))
            self._controller.record.answers(told)
        return told
