"""An executor of a site that was tampered with: what it sends, by round; and it is five times slower than the others.

In FLARE's simulator every site gets it, and hospital-c alone has the faults. Its messages go through FLARE, and the
signals to its worker process.
"""

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from nvflare.apis.fl_context import FLContext
from nvflare.apis.shareable import Shareable
from nvflare.apis.signal import Signal
from nvflare.app_common.abstract.fl_model import FLModel
from nvflare.app_common.utils.fl_model_utils import FLModelUtils

from support.interrupted import answered
from support.provisioned import ROOT, edit
from wardround.aggregation import stragglers
from wardround.flare import messages, policy, simulator
from wardround.flare.controller import RoundController
from wardround.flare.executor import SiteExecutor
from wardround.flare.recipe import StudyRecipe
from wardround.site.worker import Worker

SITE = "hospital-c"
SLOW_FROM = 1  # the round from which on it is slow; in the first one the others' time is that of opening their data
_STANDS_STILL = 6  # times what the others need at the site; at the server, which an answer has yet to reach, about 4
_AT_LEAST_SECONDS = 0.75  # that they need: where its own order was last to arrive, little of their time is seen here


class TamperedExecutor(SiteExecutor):
    """Changes its message before FLARE's filters and the outbox see it."""

    def execute(self, task_name: str, shareable: Shareable, fl_ctx: FLContext, abort_signal: Signal) -> Shareable:
        if _faulty(task_name, fl_ctx) and _round(shareable) >= SLOW_FROM:
            self._slow_down(_round(shareable), fl_ctx)
        result = super().execute(task_name, shareable, fl_ctx, abort_signal)
        change = TAMPERING.get(_round(shareable)) if _faulty(task_name, fl_ctx) else None
        if change is None:
            return result
        answer = FLModelUtils.from_shareable(result)
        change(answer)
        return FLModelUtils.to_shareable(answer)

    def _slow_down(self, index: int, fl_ctx: FLContext) -> None:
        """Its worker stands still until the others have answered and on, and then does the task that came."""
        assert self._tasks is not None
        worker = self._tasks._worker
        assert isinstance(worker, Worker)
        own = self._config(fl_ctx).state_folder
        others = [folder for folder in own.parents[1].glob(f"*/{own.name}") if folder != own]

        def go_on() -> None:
            began = time.monotonic()
            while not all(answered(folder, index) for folder in others):
                time.sleep(0.02)
            time.sleep(_STANDS_STILL * max(time.monotonic() - began, _AT_LEAST_SECONDS))
            os.kill(worker.pid, signal.SIGCONT)

        os.kill(worker.pid, signal.SIGSTOP)
        threading.Thread(target=go_on, daemon=True).start()


class ShortRoundsController(RoundController):
    """Who is slow is told from a quarter of a second on, not from half a minute on: the others take about one."""

    def run(self) -> None:
        stragglers.AT_LEAST_SECONDS = 0.25
        super().run()


def _nan(answer: FLModel) -> None:
    next(iter(answer.params.values())).view(-1)[0] = float("nan")


def _wrong_shape(answer: FLModel) -> None:
    name = next(iter(answer.params))
    answer.params[name] = torch.cat([answer.params[name], answer.params[name]])


def _anothers_name(answer: FLModel) -> None:
    answer.meta["client_name"] = "hospital-a"


def _million_fold(answer: FLModel) -> None:
    answer.params = {name: 1e6 * value for name, value in answer.params.items()}


TAMPERING: dict[int, Callable[[FLModel], None]] = {0: _nan, 1: _wrong_shape, 2: _anothers_name, 3: _million_fold}


def use(
    patch: pytest.MonkeyPatch, executor: type[SiteExecutor], controller: type[RoundController] = RoundController
) -> None:
    """Lets the simulator's sites run it, and its server a controller."""

    class Recipe(StudyRecipe):
        def export(self, job_dir: str, *arguments: Any, **options: Any) -> None:
            super().export(job_dir, *arguments, **options)
            for file in Path(job_dir).rglob("config_fed_client.*"):
                edit(file, _path(SiteExecutor), _path(executor))
            for file in Path(job_dir).rglob("config_fed_server.*"):
                edit(file, _path(RoundController), _path(controller))

    patch.setattr(simulator, "StudyRecipe", Recipe)
    patch.setattr(policy, "SITE_CLASSES", (*policy.SITE_CLASSES, _path(executor)))
    patch.setattr(policy, "SERVER_CLASSES", (*policy.SERVER_CLASSES, _path(controller)))
    patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]))


def _path(component: type) -> str:
    return f"{component.__module__}.{component.__name__}"


def _faulty(task_name: str, fl_ctx: FLContext) -> bool:
    return task_name == messages.TRAIN and fl_ctx.get_identity_name() == SITE


def _round(shareable: Shareable) -> int:
    return int((FLModelUtils.from_shareable(shareable).meta or {})[messages.KEY]["round"])
