"""An executor of a site that was tampered with: what it sends, by round; and in one round it is slow.

In FLARE's simulator every site gets it, and hospital-c alone has the faults. Its messages go through FLARE, and the
signals to its worker process.
"""

import os
import signal
import threading
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

from support.provisioned import ROOT, edit
from wardround.flare import messages, policy, simulator
from wardround.flare.executor import SiteExecutor
from wardround.flare.recipe import StudyRecipe
from wardround.site.worker import Worker

SITE = "hospital-c"
SLOW_ROUND, SLOW_SECONDS = 4, 40  # where the others take one or two
_PATH = "wardround.flare.executor.SiteExecutor"


class TamperedExecutor(SiteExecutor):
    """Changes its message before FLARE's filters and the outbox see it."""

    def execute(self, task_name: str, shareable: Shareable, fl_ctx: FLContext, abort_signal: Signal) -> Shareable:
        if _faulty(task_name, fl_ctx) and _round(shareable) == SLOW_ROUND:
            self._slow_down()
        result = super().execute(task_name, shareable, fl_ctx, abort_signal)
        change = TAMPERING.get(_round(shareable)) if _faulty(task_name, fl_ctx) else None
        if change is None:
            return result
        answer = FLModelUtils.from_shareable(result)
        change(answer)
        return FLModelUtils.to_shareable(answer)

    def _slow_down(self) -> None:
        """Its worker stands still, and then does the task that came meanwhile."""
        assert self._tasks is not None
        worker = self._tasks._worker
        assert isinstance(worker, Worker)
        os.kill(worker.pid, signal.SIGSTOP)
        threading.Timer(SLOW_SECONDS, os.kill, (worker.pid, signal.SIGCONT)).start()


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


def use(patch: pytest.MonkeyPatch, executor: type[SiteExecutor]) -> None:
    """Lets the simulator's sites run it."""
    path = f"{executor.__module__}.{executor.__name__}"

    class Recipe(StudyRecipe):
        def export(self, job_dir: str, *arguments: Any, **options: Any) -> None:
            super().export(job_dir, *arguments, **options)
            for file in Path(job_dir).rglob("config_fed_client.*"):
                edit(file, _PATH, path)

    patch.setattr(simulator, "StudyRecipe", Recipe)
    patch.setattr(policy, "SITE_CLASSES", (*policy.SITE_CLASSES, path))
    patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]))


def _faulty(task_name: str, fl_ctx: FLContext) -> bool:
    return task_name == messages.TRAIN and fl_ctx.get_identity_name() == SITE


def _round(shareable: Shareable) -> int:
    return int((FLModelUtils.from_shareable(shareable).meta or {})[messages.KEY]["round"])
