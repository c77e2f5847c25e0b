"""One task to named sites, and their answers: until all have answered, or the deadline or the grace period is over."""

import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from nvflare.app_common.abstract.fl_model import FLModel, ParamsType
from torch import Tensor

from wardround.flare.messages import Order
from wardround.records.reasons import Reason

if TYPE_CHECKING:
    from wardround.flare.controller import RoundController

Receive = Callable[[FLModel], None]


class Exchange:
    """Sends orders for the controller. One exchange at a time; FLARE's threads hand the answers in.

    FLARE's own `min_responses` counts answers, whatever is in them, so a rejected one would start the grace period
    in an accepted one's place: the quorum is counted here, over answers that `receive` accepted.
    """

    def __init__(self, controller: "RoundController") -> None:
        self._controller = controller
        self._lock = threading.Lock()
        self._receive: Receive | None = None
        self._asked: set[str] = set()
        self._answered: set[str] = set()
        self._accepted = 0
        self.lost: dict[str, str] = {}  # sites whose answer FLARE itself refused

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
        with self._lock:
            self._receive, self._asked, self._answered = receive, set(sites), set()
            self._accepted, self.lost = 0, {}
        if not self._asked:
            return []
        model = FLModel(
            params=dict(params) if params is not None else None,
            params_type=ParamsType.FULL if params is not None else None,
            metrics=None if params is not None else {},
            current_round=order.round,
            total_rounds=self._controller.num_rounds,
            meta=order.meta(),
        )
        task_sent = self._controller.send(
            model, task, targets=sorted(self._asked), timeout=deadline, callback=self._on_answer
        )
        self._wait(time.monotonic() + deadline, quorum, grace)
        with self._lock:
            self._receive = None
            late = sorted(self._asked - self._answered)
        if late:
            self._controller.cancel_task(task_sent)
        return late

    def lose(self, site: str) -> None:
        """FLARE refused a site's answer (an aborted task, a filter that failed): it will not come."""
        with self._lock:
            if site in self._asked:
                self._answered.add(site)
                self.lost[site] = Reason.SITE_FAILED

    def _on_answer(self, model: FLModel) -> None:
        site = str((model.meta or {}).get("client_name"))
        with self._lock:
            if self._receive is None or site not in self._asked:
                return
            try:
                self._receive(model)
                self._accepted += 1
            finally:
                self._answered.add(site)

    def _wait(self, end: float, quorum: int | None, grace: int) -> None:
        quorum_met_at: float | None = None
        while not self._controller.abort_signal.triggered:
            with self._lock:
                if self._answered >= self._asked:
                    return
                accepted = self._accepted
            now = time.monotonic()
            if quorum is not None and accepted >= quorum and quorum_met_at is None:
                quorum_met_at = now
            if now > end or (quorum_met_at is not None and now > quorum_met_at + grace):
                return
            time.sleep(self._controller.task_check_period)
