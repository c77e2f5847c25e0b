"""Whether the server has closed a round in which a site still waits: FLARE tells no site, but answers one that asks."""

import logging
import time

from nvflare.apis.fl_constant import FLContextKey, ReservedTopic, ReturnCode, SiteType
from nvflare.apis.fl_context import FLContext
from nvflare.apis.shareable import ReservedHeaderKey, Shareable

_log = logging.getLogger(__name__)

_EVERY_SECONDS = 10.0
_TIMEOUT_SECONDS = 5.0


class RoundClosed:
    """The question that FLARE's own client asks the server before it sends a result: is this task still waited for?

    Args:
        fl_ctx: the task's.
    """

    def __init__(self, fl_ctx: FLContext) -> None:
        self._fl_ctx = fl_ctx
        self._asked = time.monotonic()

    def __call__(self) -> bool:
        """True once the server knows the task no more. Without an answer, and between two questions, it counts as
        open: a line that is cut says nothing about the round."""
        now = time.monotonic()
        if now - self._asked < _EVERY_SECONDS:
            return False
        self._asked = now
        question = Shareable()
        question.set_header(ReservedHeaderKey.TASK_ID, self._fl_ctx.get_prop(FLContextKey.TASK_ID))
        try:
            answers = self._fl_ctx.get_engine().send_aux_request(
                targets=[SiteType.SERVER],
                topic=ReservedTopic.TASK_CHECK,
                request=question,
                timeout=_TIMEOUT_SECONDS,
                fl_ctx=self._fl_ctx,
                optional=True,
            )
        except Exception:
            _log.debug("the server was not reached", exc_info=True)
            return False
        answer = (answers or {}).get(SiteType.SERVER)
        return isinstance(answer, Shareable) and answer.get_return_code() == ReturnCode.TASK_UNKNOWN
