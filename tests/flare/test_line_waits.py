"""A site asks for its next task and sends its result again soon where no answer comes."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from nvflare.apis.fl_constant import FLContextKey
from nvflare.apis.fl_context import FLContext, FLContextManager
from nvflare.fuel.f3.cellnet.defs import ReturnCode
from nvflare.fuel.f3.cellnet.utils import make_reply
from nvflare.private.fed.client.communicator import Communicator

from wardround.flare.line_waits import ANSWER_SECONDS, SLOWEST_LINE, limit_pulls, limit_result


class _Cell:
    """Notes how long FLARE would wait; the server does not answer."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def send_request(self, *, timeout: float, **_options: Any) -> Any:
        self.waits.append(timeout)
        return make_reply(ReturnCode.TIMEOUT)


@pytest.mark.parametrize(("kit", "waits"), [(300.0, ANSWER_SECONDS), (5.0, 5.0)])
def test_the_question_for_a_task_is_asked_again_soon(kit: float, waits: float) -> None:
    cell = _Cell()
    communicator = Communicator(client_config={"client_name": "hospital-a"}, cell=cell, timeout=kit)
    context = _context(communicator)
    limit_pulls(context)
    assert communicator.pull_task("consortium", "token", "session", context) is None
    assert cell.waits == [waits]


@pytest.mark.parametrize(
    ("weights", "seconds"),
    [
        (None, 60.0),
        ({"layer": torch.zeros(5, 5)}, 60.0 + 100 / SLOWEST_LINE),
        ({"network": torch.zeros(4_800_000), "batches": torch.tensor(3)}, 60.0 + 19_200_008 / SLOWEST_LINE),
    ],
)
def test_a_result_has_the_time_of_its_weights(weights: dict[str, torch.Tensor] | None, seconds: float) -> None:
    context, runner = FLContext(), SimpleNamespace()
    context.set_prop(FLContextKey.RUNNER, runner, private=True)
    limit_result(context, weights)
    assert runner.submit_task_result_timeout == pytest.approx(seconds)


def _context(communicator: Communicator) -> FLContext:
    engine = SimpleNamespace(client=SimpleNamespace(communicator=communicator))
    return FLContextManager(engine=engine, identity_name="hospital-a", job_id="job").new_context()
