"""How long a hospital waits for the answer to its question for the next task, before it asks again."""

from nvflare.apis.fl_context import FLContext

PULL_SECONDS = 30.0  # the server answers within milliseconds, with "nothing yet" too


def limit_pulls(fl_ctx: FLContext) -> None:
    """Lets a job's process ask again after `PULL_SECONDS` without a sign of an answer.

    FLARE waits `communication_timeout` of the startup kit, 300 s, and a job's `get_task_timeout` can only lengthen it.
    Whoever's line is cut while the question is on its way would answer no order for so long, though the line is
    back. It is a limit for the beginning of the answer and for each pause in it, not for its length; a server that was
    slow hands out the same task again.

    Args:
        fl_ctx: of the beginning of a run.
    """
    communicator = fl_ctx.get_engine().client.communicator
    communicator.timeout = min(communicator.timeout, PULL_SECONDS)
