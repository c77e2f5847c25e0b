"""An executor whose site's hours end in the middle of its first round, to open again before the round's deadline.

In FLARE's simulator every site gets it, and hospital-c alone has such hours: real ones begin and end with a minute.
"""

import os
import signal
import threading
from datetime import datetime, timedelta

from nvflare.apis.fl_context import FLContext
from nvflare.apis.shareable import Shareable
from nvflare.apis.signal import Signal

from wardround.flare import messages
from wardround.flare.executor import SiteExecutor
from wardround.records.reasons import Reason
from wardround.site.permission import Permission
from wardround.site.refusal import Refusal
from wardround.site.worker import Worker

SITE = "hospital-c"
DEADLINE_SECONDS = 300
_STANDS_STILL_SECONDS = 2.5  # so that the hours end while it trains, which takes a tenth of a second


class _HoursThatEnd:
    """Open when asked first, before the task; closed from then on until shortly before the deadline."""

    def __init__(self) -> None:
        self._open_again: datetime | None = None

    def refusal(self, task: str, now: datetime) -> Refusal | None:
        if self._open_again is None:
            self._open_again = now + timedelta(seconds=0.9 * DEADLINE_SECONDS)
            return None
        return Refusal(Reason.NOT_NOW, "the site's hours are over", self._open_again)


class WaitingExecutor(SiteExecutor):
    """After that task the site's hours are what they are again."""

    waited = False

    def execute(self, task_name: str, shareable: Shareable, fl_ctx: FLContext, abort_signal: Signal) -> Shareable:
        if self.waited or task_name != messages.TRAIN or fl_ctx.get_identity_name() != SITE:
            return super().execute(task_name, shareable, fl_ctx, abort_signal)
        self.waited = True
        assert self._tasks is not None
        worker, permission = self._tasks._worker, self._tasks._permission
        assert isinstance(worker, Worker)
        os.kill(worker.pid, signal.SIGSTOP)
        threading.Timer(_STANDS_STILL_SECONDS, os.kill, (worker.pid, signal.SIGCONT)).start()
        self._tasks._permission = Permission([_HoursThatEnd()])
        try:
            return super().execute(task_name, shareable, fl_ctx, abort_signal)
        finally:
            self._tasks._permission = permission
