"""How long a job's process waits on its line to the other side before it asks or sends again.

FLARE's own waits are 300 s for an answer (`communication_timeout` of the startup kit) and 600 s for a chunk of weights.
What a cut took along would keep a hospital out of its rounds for so long, though its line is back.
Each is a limit for the beginning of an answer and for each pause in it, not for its length.
"""

from collections.abc import Mapping
from typing import Any

from nvflare.apis.fl_constant import ConfigVarName, FLContextKey
from nvflare.apis.fl_context import FLContext
from torch import Tensor

ANSWER_SECONDS = 30.0  # the other side answers within milliseconds, with "nothing yet" too
SLOWEST_LINE = 125_000.0  # bytes a second, 1 Mbit/s

# Of either side's job, for the chunks of 2 MB in which either asks the other for weights: it asks again, three times.
CHUNKS: dict[str, float] = {f"tensor_{ConfigVarName.STREAMING_PER_REQUEST_TIMEOUT}": ANSWER_SECONDS}


def limit_pulls(fl_ctx: FLContext) -> None:
    """Lets a site's job process ask for a task again after `ANSWER_SECONDS` without a sign of an answer.

    A job's `get_task_timeout` can only lengthen the kit's. A server that was slow hands out the same task again.

    Args:
        fl_ctx: of the beginning of a run.
    """
    communicator = fl_ctx.get_engine().client.communicator
    communicator.timeout = min(communicator.timeout, ANSWER_SECONDS)


def limit_result(fl_ctx: FLContext, weights: Mapping[str, Tensor] | None) -> None:
    """Lets a site's job process send its result again where the server had time to fetch it and says nothing.

    The server answers once it has fetched the weights, so the wait is twice `ANSWER_SECONDS`, of which it needs one
    to miss a chunk, and the time of the weights on `SLOWEST_LINE`. FLARE asks whether the result is still wanted before
    it sends, and the server drops a second one.

    Args:
        fl_ctx: of the task.
        weights: of the result.
    """
    size = sum(tensor.nbytes for tensor in (weights or {}).values())
    runner: Any = fl_ctx.get_prop(FLContextKey.RUNNER)
    runner.submit_task_result_timeout = 2 * ANSWER_SECONDS + size / SLOWEST_LINE
