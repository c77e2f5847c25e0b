"""SiteExecutor: the FLARE side of a hospital. It passes orders on, and lets nothing out but results and codes."""

import contextlib
import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from nvflare.apis.event_type import EventType
from nvflare.apis.executor import Executor
from nvflare.apis.fl_constant import FLMetaKey
from nvflare.apis.fl_context import FLContext
from nvflare.apis.shareable import Shareable
from nvflare.apis.signal import Signal
from nvflare.app_common.abstract.fl_model import FLModel, ParamsType
from nvflare.app_common.utils.fl_model_utils import FLModelUtils
from nvflare.app_opt.pt.decomposers import TensorDecomposer
from nvflare.fuel.utils import fobs
from torch import Tensor

from wardround.aggregation.gate import as_tensors
from wardround.flare import messages
from wardround.flare.line_waits import limit_pulls, limit_result
from wardround.flare.outbox_hook import OutboxHook
from wardround.flare.round_closed import RoundClosed
from wardround.records.orders import Order, Reply
from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import load_study
from wardround.site.answers import note_answer
from wardround.site.config import SiteConfig, find_site_config, load_site_config
from wardround.site.gate import Cleared, guard, refused
from wardround.site.processes import available_cores
from wardround.site.site_log import code_of, open_first_site_log
from wardround.site.supervised_tasks import SupervisedTasks
from wardround.site.worker import Worker, WorkerLike
from wardround.site.worker_messages import Opening
from wardround.workloads.words import Words, words_of

_log = logging.getLogger(__name__)

CONCURRENT_SITES = "WARDROUND_CONCURRENT_SITES"  # how many sites share this machine; set by the simulator and POC


class SiteExecutor(Executor):
    """Answers `prepare`, `train` and `validate` for one hospital.

    FLARE's workflows between sites ask for `submit_model`, a site's weights as they are; that is no task of ours.

    Whatever goes wrong, the answer has FLARE's return code OK and a coded reason; the exception's text, which may
    name a patient's file, goes to the site's own log alone (an exception that leaves `execute` reaches
    the server).
    """

    start_worker: Callable[[Opening], WorkerLike] = Worker

    def __init__(self) -> None:
        super().__init__()
        self._site: SiteConfig | None = None
        self._tasks: SupervisedTasks | None = None
        self._words: Words | None = None
        self._outbox = OutboxHook(self, self._outbox_folder)

    def handle_event(self, event_type: str, fl_ctx: FLContext) -> None:
        """At the start teaches FLARE to carry tensors and to ask again, and opens a log; at the end ends the worker."""
        if event_type == EventType.START_RUN:
            fobs.register(TensorDecomposer)
            open_first_site_log([_run_folder(fl_ctx)])
            limit_pulls(fl_ctx)
        elif event_type == EventType.END_RUN and self._tasks is not None:
            self._tasks.end()

    def execute(self, task_name: str, shareable: Shareable, fl_ctx: FLContext, abort_signal: Signal) -> Shareable:
        """Runs one task; never raises."""
        # SystemExit and the like are failures here too: FLARE would put their text into a log that may be streamed
        try:
            self._open_log(fl_ctx)
            received = FLModelUtils.from_shareable(shareable)
            return FLModelUtils.to_shareable(self._answer(task_name, received, fl_ctx, abort_signal))
        except BaseException as error:
            _log.exception("%s failed", task_name)
            return FLModelUtils.to_shareable(_model(refused(code_of(error)), None))

    def _answer(self, task_name: str, received: FLModel, fl_ctx: FLContext, abort_signal: Signal) -> FLModel:
        if task_name not in messages.TASKS:  # before the order, which what others ask for has none of
            raise WardroundError(
                Reason.SITE_FAILED, f"task {task_name!r} is unknown; known: {', '.join(messages.TASKS)}"
            )
        order = Order.model_validate((received.meta or {}).get(messages.KEY))
        try:
            reply, params = self._carry_out(task_name, order, received, fl_ctx, abort_signal)
        except BaseException as error:
            self._note(task_name, order, Reply(error=code_of(error)), fl_ctx)
            raise
        cleared = self._guarded(reply, fl_ctx)
        self._note(task_name, order, cleared.reply, fl_ctx)
        model = _model(cleared, params)
        limit_result(fl_ctx, model.params)
        return model

    def _carry_out(
        self, task_name: str, order: Order, received: FLModel, fl_ctx: FLContext, abort_signal: Signal
    ) -> tuple[Reply, Mapping[str, Tensor] | None]:
        shared = None if received.params is None else as_tensors(received.params)
        aborted, closed = (lambda: bool(abort_signal.triggered)), RoundClosed(fl_ctx)
        return self._open(fl_ctx).do(task_name, order, shared, aborted, closed)

    def _open(self, fl_ctx: FLContext) -> SupervisedTasks:
        if self._tasks is None:
            config = self._config(fl_ctx)
            job_config = Path(fl_ctx.get_workspace().get_app_config_dir(fl_ctx.get_job_id()))
            self._tasks = SupervisedTasks(
                load_study(job_config / "job.yaml"),
                config,
                threads=config.threads or threads_per_site(),
                log_folder=self._open_log(fl_ctx),
                start=self.start_worker,
            )
        return self._tasks

    def _note(self, task_name: str, order: Order, reply: Reply, fl_ctx: FLContext) -> None:
        """For the admin's own eyes; where it cannot be written, the answer goes out all the same."""
        try:
            note_answer(self._config(fl_ctx).state_folder, fl_ctx.get_job_id(), task_name, order, reply)
        except (OSError, WardroundError):
            _log.warning("%s: the answer could not be noted", task_name)

    def _config(self, fl_ctx: FLContext) -> SiteConfig:
        if self._site is None:
            local_folder = Path(fl_ctx.get_workspace().get_site_config_dir())
            name = fl_ctx.get_identity_name()
            site = load_site_config(find_site_config(local_folder, name))
            if site.name != name:
                raise WardroundError(
                    Reason.CONFIGURATION_INVALID,
                    f"{site.source}: name: expected {name!r} as in the certificate, found {site.name!r}",
                )
            self._site = site
        return self._site

    def _guarded(self, reply: Reply, fl_ctx: FLContext) -> Cleared:
        """The reply past the site's disclosure gate, which knows the study's words without the site's data."""
        if self._words is None:
            job_config = Path(fl_ctx.get_workspace().get_app_config_dir(fl_ctx.get_job_id()))
            self._words = words_of(load_study(job_config / "job.yaml").workload)
        return guard(reply, self._config(fl_ctx).disclosure, self._words)

    def _outbox_folder(self, fl_ctx: FLContext) -> Path:
        """The state folder; where no site.yaml tells of one, there is no more to send than a code."""
        try:
            return self._config(fl_ctx).state_folder
        except WardroundError:
            return _run_folder(fl_ctx)

    def _open_log(self, fl_ctx: FLContext) -> Path | None:
        """Opens the site's log in its state folder; where that cannot be used, in the run folder, or nowhere."""
        folders = [_run_folder(fl_ctx)]
        with contextlib.suppress(WardroundError):  # no usable site.yaml: the task says so
            folders.insert(0, self._config(fl_ctx).state_folder)
        return open_first_site_log(folders)


def _run_folder(fl_ctx: FLContext) -> Path:
    return Path(fl_ctx.get_workspace().get_run_dir(fl_ctx.get_job_id()))


def threads_per_site() -> int:
    """Cores over the sites that share this machine, at least one."""
    return max(1, available_cores() // max(1, int(os.environ.get(CONCURRENT_SITES, "1"))))


def _model(cleared: Cleared, params: Mapping[str, Tensor] | None) -> FLModel:
    reply = cleared.reply
    if reply.error is not None:  # the gate refuses a whole answer, its weights included
        params = None
    meta = messages.meta(reply)
    if reply.report is not None:
        meta[FLMetaKey.NUM_STEPS_CURRENT_ROUND] = reply.report.steps
    return FLModel(
        params=dict(params) if params else None,
        params_type=ParamsType.DIFF if params else None,
        metrics=messages.metrics(reply.records),
        meta=meta,
    )
