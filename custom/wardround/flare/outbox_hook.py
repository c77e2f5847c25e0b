"""Writes down what leaves a site, after FLARE's own filters, and lets nothing leave that could not be written down."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nvflare.apis.event_type import EventType
from nvflare.apis.fl_component import FLComponent
from nvflare.apis.fl_constant import FLContextKey
from nvflare.apis.fl_context import FLContext
from nvflare.apis.job_def import JobMetaKey
from nvflare.apis.shareable import Shareable
from nvflare.app_common.abstract.fl_model import FLModel
from nvflare.app_common.utils.fl_model_utils import FLModelUtils

from wardround.flare import messages
from wardround.flare.described import describe, order_of
from wardround.records.orders import Reply
from wardround.records.outbox import OutboxLine
from wardround.records.reasons import Reason
from wardround.site.outbox import write_line

_log = logging.getLogger(__name__)
_OF_THE_ORDER = ("run", "round", "arm", "split")
_AT_ONCE = 8


class OutboxHook:
    """Listens with the one component that a job can build at a site, so that none does anything here without it.

    FLARE applies the site's filters (privacy.json) before the job's, so a filter of ours could always have one of the
    job's behind it. The event AFTER_TASK_RESULT_FILTER comes after them all and holds the message itself, whichever
    way it was asked for. At BEFORE_SEND_TASK_RESULT, right before sending, the message is held against what was
    written: what a component changed in between does not get out. Where FLARE answers in place of the component (an
    aborted task, a filter that failed) there is nothing but its return code, which is written down then.

    Args:
        component: whose events these are.
        folder: where the outbox lies; may raise, and then nothing leaves.
    """

    def __init__(self, component: FLComponent, folder: Callable[[FLContext], Path]) -> None:
        self._folder = folder
        self._tasks: dict[str, _Task] = {}
        component.register_event_handler(EventType.BEFORE_TASK_EXECUTION, self._remember)
        component.register_event_handler(EventType.AFTER_TASK_RESULT_FILTER, self._write)
        component.register_event_handler(EventType.BEFORE_SEND_TASK_RESULT, self._compare)

    def _remember(self, _event: str, fl_ctx: FLContext) -> None:
        """What the task is an order for, which is gone by the time of its answer."""
        asked = fl_ctx.get_prop(FLContextKey.TASK_DATA)
        order = order_of(asked) if isinstance(asked, Shareable) else {}
        while len(self._tasks) > _AT_ONCE:  # those asked for in a way that fires no event before sending
            self._tasks.pop(next(iter(self._tasks)))
        self._tasks[_task_id(fl_ctx)] = _Task({name: order[name] for name in _OF_THE_ORDER if name in order})

    def _write(self, _event: str, fl_ctx: FLContext) -> None:
        message = fl_ctx.get_prop(FLContextKey.TASK_RESULT)
        task = self._tasks.setdefault(_task_id(fl_ctx), _Task({}))
        if not isinstance(message, Shareable):
            return  # FLARE sends a return code of its own in its place
        try:
            content = describe(message)
            self._add(fl_ctx, task, content)
            task.message, task.written = message, content
        except BaseException:  # an exception would be logged by FLARE, and the message sent all the same
            _log.exception("the outbox cannot be written: nothing was sent but %s", Reason.OUTBOX_FAILED)
            withhold(message)

    def _compare(self, _event: str, fl_ctx: FLContext) -> None:
        task = self._tasks.pop(_task_id(fl_ctx), _Task({}))
        try:
            if task.message is None:
                self._add(fl_ctx, task, {"code": "FLARE"})
            elif _content(describe(task.message)) != _content(task.written):
                _log.error("a message was changed after it was written down: nothing was sent of it")
                withhold(task.message)
        except BaseException:
            _log.exception("the outbox cannot be written")
            if task.message is not None:
                withhold(task.message)

    def _add(self, fl_ctx: FLContext, task: "_Task", content: dict[str, Any]) -> None:
        line = OutboxLine(
            time=datetime.now(UTC).isoformat(timespec="milliseconds"),
            site=fl_ctx.get_identity_name(),
            study=str((fl_ctx.get_prop(FLContextKey.JOB_META) or {}).get(JobMetaKey.JOB_NAME.value, "")),
            job=fl_ctx.get_job_id() or "",
            task=str(fl_ctx.get_prop(FLContextKey.TASK_NAME) or ""),
            task_id=_task_id(fl_ctx),
            **task.order,
            **content,
        )
        write_line(self._folder(fl_ctx), line)


@dataclass
class _Task:
    order: dict[str, Any]
    message: Shareable | None = None  # None until it is written down
    written: dict[str, Any] = field(default_factory=dict)


def withhold(message: Shareable) -> None:
    """Takes everything out of a message, whose place FLARE has kept already, and leaves a reason code."""
    refusal = FLModelUtils.to_shareable(FLModel(metrics={}, meta=messages.meta(Reply(error=Reason.OUTBOX_FAILED))))
    message.clear()
    message.update(refusal)


def _content(described: dict[str, Any]) -> dict[str, Any]:
    """All but headers, of which FLARE adds some on the way."""
    return {name: value for name, value in described.items() if name != "headers"}


def _task_id(fl_ctx: FLContext) -> str:
    return str(fl_ctx.get_prop(FLContextKey.TASK_ID) or "")
