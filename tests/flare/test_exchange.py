"""One task and its answers: an answer belongs to the task that it was given to, whenever it comes."""

from collections.abc import Callable
from typing import Any

import pytest
from nvflare.apis.client import Client
from nvflare.apis.controller_spec import ClientTask, Task
from nvflare.apis.fl_constant import ReturnCode
from nvflare.apis.fl_context import FLContext
from nvflare.apis.shareable import Shareable
from nvflare.apis.signal import Signal
from nvflare.app_common.abstract.fl_model import FLModel
from nvflare.app_common.app_constant import AppConstants
from nvflare.app_common.workflows.fedavg import FedAvg

from wardround.flare import messages
from wardround.flare.controller import RoundController
from wardround.flare.exchange import Exchange
from wardround.records.orders import Order
from wardround.records.task_answers import TaskAnswers

ORDER = Order(run="run")


class Table:
    """A controller's part; `on_send` plays the sites."""

    def __init__(self, on_send: Callable[[Any], None]) -> None:
        self.num_rounds, self.task_check_period, self.abort_signal = 1, 0.001, Signal()
        self.callbacks: list[Any] = []
        self.cancelled = 0
        self.record = self
        self.told: list[TaskAnswers] = []
        self._on_send = on_send

    def send(self, _model: FLModel, task: str, *, callback: Any, **_: Any) -> Task:
        self.callbacks.append(callback)
        self._on_send(self)
        return Task(task, Shareable())

    def answers(self, told: TaskAnswers) -> None:
        self.told.append(told)

    def cancel_task(self, _task: Task) -> None:
        self.cancelled += 1


def _answer(site: str, text: str = "") -> FLModel:
    return FLModel(metrics={}, meta={"client_name": site, "text": text})


def _ask(exchange: Exchange, sites: list[str], received: list[str], **options: Any) -> list[str]:
    return exchange.ask(
        messages.TRAIN, ORDER, sites, lambda model: received.append(model.meta["text"]), deadline=0, **options
    )


def test_an_answer_that_was_being_decoded_at_the_deadline_is_not_the_next_rounds() -> None:
    def play(table: Table) -> None:
        if len(table.callbacks) == 2:  # the first round's answer comes while the second round is open
            assert table.callbacks[0](_answer("hospital-c", "first round")) is False
            table.callbacks[1](_answer("hospital-c", "second round"))

    exchange, received = Exchange(Table(play)), []
    assert _ask(exchange, ["hospital-c"], received) == ["hospital-c"]
    assert _ask(exchange, ["hospital-c"], received) == []
    assert received == ["second round"]


def test_an_old_tasks_failure_does_not_lose_the_sites_next_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FedAvg, "_process_result", lambda *_: None)
    controller = RoundController.__new__(RoundController)

    def fail(callback: Any) -> None:
        task = Task(messages.TRAIN, Shareable(), props={AppConstants.TASK_PROP_CALLBACK: callback})
        failed = ClientTask(Client("hospital-c", "token"), task)
        failed.result = Shareable()
        failed.result.set_return_code(ReturnCode.EXECUTION_EXCEPTION)
        controller._process_result(failed, FLContext())

    def play(table: Table) -> None:
        if len(table.callbacks) == 2:
            fail(table.callbacks[0])
            table.callbacks[1](_answer("hospital-c", "second round"))
        if len(table.callbacks) == 3:
            fail(table.callbacks[2])

    exchange, received = Exchange(Table(play)), []
    for late in (["hospital-c"], [], []):
        assert _ask(exchange, ["hospital-c"], received) == late
    assert received == ["second round"]
    assert exchange.lost == {"hospital-c": "site_failed"}  # of the third


def test_a_stranger_and_a_second_answer_are_not_received() -> None:
    def play(table: Table) -> None:
        for site in ("hospital-x", "hospital-a", "hospital-a"):
            table.callbacks[0](_answer(site, site))

    exchange, received = Exchange(Table(play)), []
    assert _ask(exchange, ["hospital-a"], received) == []
    assert received == ["hospital-a"]


def test_who_has_answered_is_told_when_it_is_asked_and_as_answers_come() -> None:
    def play(table: Table) -> None:
        table.callbacks[0](_answer("hospital-b"))

    table = Table(play)
    assert _ask(Exchange(table), ["hospital-a", "hospital-b"], []) == ["hospital-a"]
    assert [told.answered for told in table.told] == [(), ("hospital-b",)]
    assert (table.told[-1].task, table.told[-1].awaited) == ("train", ["hospital-a"])


def test_the_last_answer_is_told_too() -> None:
    def play(table: Table) -> None:
        for site in ("hospital-a", "hospital-b"):
            table.callbacks[0](_answer(site))

    table = Table(play)
    assert _ask(Exchange(table), ["hospital-a", "hospital-b"], []) == []
    assert [told.answered for told in table.told] == [(), ("hospital-a", "hospital-b")]
    assert table.told[-1].awaited == []
