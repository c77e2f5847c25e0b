"""A site asks for its next task again soon where no answer comes, and waits no longer than its kit says."""

from types import SimpleNamespace
from typing import Any

import pytest
from nvflare.apis.fl_context import FLContext, FLContextManager
from nvflare.fuel.f3.cellnet.defs import ReturnCode
from nvflare.fuel.f3.cellnet.utils import make_reply
from nvflare.private.fed.client.communicator import Communicator

from wardround.flare.pull_timeout import PULL_SECONDS, limit_pulls


class _Cell:
    """Notes how long FLARE would wait; the server does not answer."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def send_request(self, *, timeout: float, **_options: Any) -> Any:
        self.waits.append(timeout)
        return make_reply(ReturnCode.TIMEOUT)


@pytest.mark.parametrize(("kit", "waits"), [(300.0, PULL_SECONDS), (5.0, 5.0)])
def test_the_question_for_a_task_is_asked_again_soon(kit: float, waits: float) -> None:
    cell = _Cell()
    communicator = Communicator(client_config={"client_name": "hospital-a"}, cell=cell, timeout=kit)
    context = _context(communicator)
    limit_pulls(context)
    assert communicator.pull_task("consortium", "token", "session", context) is None
    assert cell.waits == [waits]


def _context(communicator: Communicator) -> FLContext:
    engine = SimpleNamespace(client=SimpleNamespace(communicator=communicator))
    return FLContextManager(engine=engine, identity_name="hospital-a", job_id="job").new_context()
