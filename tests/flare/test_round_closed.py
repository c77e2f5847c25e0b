"""A site that waits asks the server, and believes nothing but its word that a round is closed."""

from typing import Any

import pytest
from nvflare.apis.fl_constant import FLContextKey, ReservedTopic, ReturnCode
from nvflare.apis.fl_context import FLContext, FLContextManager
from nvflare.apis.shareable import ReservedHeaderKey, Shareable, make_reply
from nvflare.private.fed.server.server_runner import ServerRunner

from wardround.flare import round_closed
from wardround.flare.round_closed import RoundClosed


class _Engine:
    """FLARE's client engine, with FLARE's own server end behind it."""

    def __init__(self, open_tasks: set[str]) -> None:
        self.open_tasks = open_tasks
        self.asked = 0
        self.broken: Any = None

    def send_aux_request(self, *, targets: list[str], topic: str, request: Shareable, **options: Any) -> Any:
        assert topic == ReservedTopic.TASK_CHECK
        assert options["timeout"] > 0
        self.asked += 1
        if self.broken is not None:
            return self.broken()
        return {name: ServerRunner._handle_task_check(_server(self), topic, request, FLContext()) for name in targets}


def _server(engine: _Engine) -> Any:
    class Anything:
        def __getattr__(self, _name: str) -> Any:
            return lambda *_arguments, **_options: None

    server, server.wf_lock, server.current_wf = Anything(), _Lock(), Anything()
    server.current_wf.controller = Anything()
    server.current_wf.controller.communicator = Anything()
    server.current_wf.controller.communicator.process_task_check = lambda task_id, **_: task_id in engine.open_tasks
    return server


class _Lock:
    def __enter__(self) -> None: ...

    def __exit__(self, *_error: Any) -> None: ...


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(round_closed.time, "monotonic", lambda: now[0])
    return now


def _context(engine: _Engine) -> FLContext:
    context = FLContextManager(engine=engine, identity_name="hospital-a", job_id="job").new_context()
    context.set_prop(FLContextKey.TASK_ID, "task-1", private=True, sticky=False)
    return context


def test_a_task_that_the_server_no_longer_knows_is_closed(seconds: list[float]) -> None:
    engine = _Engine({"task-1"})
    closed = RoundClosed(_context(engine))
    seconds[0] = 11
    assert not closed()
    engine.open_tasks.clear()
    seconds[0] = 22
    assert closed()
    assert engine.asked == 2


def test_the_server_is_asked_seldom(seconds: list[float]) -> None:
    engine = _Engine(set())
    closed = RoundClosed(_context(engine))
    for second in range(100):
        seconds[0] = second
        closed()
    assert engine.asked == 9


def _raise() -> Any:
    raise ConnectionError


@pytest.mark.parametrize(
    "broken",
    [_raise, dict, lambda: None, lambda: {"server": "?"}]
    + [
        lambda code=code: {"server": make_reply(code)}
        for code in (ReturnCode.COMMUNICATION_ERROR, ReturnCode.SERVER_NOT_READY, ReturnCode.TIMEOUT)
    ],
)
def test_a_line_that_is_cut_says_nothing_about_the_round(seconds: list[float], broken: Any) -> None:
    engine = _Engine(set())
    engine.broken = broken
    closed = RoundClosed(_context(engine))
    seconds[0] = 11
    assert not closed()
    assert engine.asked == 1


def test_the_question_names_the_task(seconds: list[float]) -> None:
    engine, heard = _Engine(set()), []
    closed = RoundClosed(_context(engine))
    engine.send_aux_request = lambda **options: heard.append(options["request"])  # type: ignore[method-assign]
    seconds[0] = 11
    closed()
    assert heard[0].get_header(ReservedHeaderKey.TASK_ID) == "task-1"
