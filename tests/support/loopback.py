"""The real controller, aggregator, persistor and executors around one table: FLARE's classes, no processes."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from nvflare.apis.client import Client
from nvflare.apis.controller_spec import Task
from nvflare.apis.fl_constant import FLContextKey
from nvflare.apis.fl_context import FLContext, FLContextManager
from nvflare.apis.shareable import Shareable
from nvflare.apis.signal import Signal
from nvflare.apis.workspace import Workspace
from nvflare.app_common.abstract.fl_model import FLModel
from nvflare.app_common.app_constant import AppConstants
from nvflare.app_common.utils.fl_model_utils import FLModelUtils

from support.fake_workload import WORDS, FakeWorkload, make_study
from support.in_process_worker import InProcessWorker
from wardround.flare import enrolment, environments, executor, final_scoring, persistor
from wardround.flare.aggregator import UpdateAggregator
from wardround.flare.controller import RoundController
from wardround.flare.executor import SiteExecutor
from wardround.flare.persistor import CheckpointPersistor
from wardround.flare.selector import FixedSitesSelector
from wardround.records.run_lines import EndLine, RoundLine, RunLine, ScoreLine, StartLine, read_lines
from wardround.records.server_state import FOLDER
from wardround.records.study import Study
from wardround.site import open_site

JOB = "job"
SITES: dict[str, dict[str, Any]] = {
    "hospital-a": {"seed": 1},
    "hospital-b": {"seed": 2, "cases": 4, "gain": 3.0},
    "hospital-c": {"seed": 3, "offset": 2.0},
}
Tamper = Callable[[str, str, FLModel], FLModel | None]


def use_fake_workload(patch: pytest.MonkeyPatch, make: Callable[[Study], FakeWorkload] | None = None) -> None:
    """Lets server and sites build the fake workload, which is not installed."""
    for module in (open_site, enrolment, final_scoring, persistor, environments):
        patch.setattr(module, "make_workload", make or (lambda _study: FakeWorkload()))
    for module in (enrolment, executor):
        patch.setattr(module, "words_of", lambda _settings: WORDS)


def quick_study(**changes: Any) -> Study:
    """A study that two of three hospitals are enough for, and that waits for none."""
    settings: dict[str, Any] = {"federation": {"quorum": 2, "round_deadline_seconds": 1, "grace_period_seconds": 0}}
    return make_study(**{**settings, **changes})


class FakeEngine:
    """What the controller and the executor ask of FLARE's engine."""

    def __init__(self, workspace: Workspace, sites: list[str]) -> None:
        self.workspace = workspace
        self.sites = sites
        self.components: dict[str, Any] = {}
        self.events: list[str] = []
        self.selections: list[Any] = []
        self.client = SimpleNamespace(communicator=SimpleNamespace(timeout=300.0))  # a kit's default

    def get_clients(self) -> list[Client]:
        return [Client(name, "token") for name in self.sites]

    def get_component(self, name: str) -> Any:
        return self.components.get(name)

    def get_workspace(self) -> Workspace:
        return self.workspace

    def fire_event(self, event_type: str, fl_ctx: FLContext) -> None:
        self.events.append(event_type)
        self.selections.append(fl_ctx.get_prop(AppConstants.METRICS_SELECTION_INFO))


class LoopbackController(RoundController):
    """Hands each order to the executors at once, in the order of `sites`, and their answers to the callback.

    `tamper(site, task, answer)` may change an answer; None stands for one that never arrives.
    """

    executors: Mapping[str, tuple[SiteExecutor, FLContext]]
    tamper: Tamper
    sent: list[tuple[str, str, Shareable]]
    panics: list[str]

    def broadcast_model(self, data: FLModel, task_name: str = "", targets: Any = None, **options: Any) -> None:
        self._sent = Task(task_name, Shareable())
        for site in [name for name in self.executors if name in targets]:
            executor, context = self.executors[site]
            result = executor.execute(task_name, FLModelUtils.to_shareable(data), context, Signal())
            self.sent.append((site, task_name, result))
            answer = self.tamper(site, task_name, FLModelUtils.from_shareable(result))
            if answer is not None:
                answer.meta["client_name"] = site
                try:
                    options["callback"](answer)
                except Exception as error:  # as FLARE: logged, not counted
                    self.refusals.append(f"{site}: {error}")

    def cancel_task(self, *args: Any, **kwargs: Any) -> None:
        self.cancelled += 1

    def panic(self, reason: str) -> None:
        self.panics.append(reason)


class Federation:
    """A run in one process.

    Args:
        folder: everything is written in it.
        study: the study.
        sites: name to the fake data's arguments; keys `role`, `synthetic` and `minimum_cell` are the site's.
        expected: names that should take part, by default all of `sites`.
        tamper: see `LoopbackController`.
        goes_on_from: an earlier job of the same run, whose server's checkpoint and sites' state folders are used.
        left_out: see `RoundController`.
    """

    def __init__(
        self,
        folder: Path,
        study: Study,
        sites: Mapping[str, dict[str, Any]],
        *,
        expected: list[str] | None = None,
        tamper: Tamper | None = None,
        order: list[str] | None = None,
        goes_on_from: "Federation | None" = None,
        left_out: list[str] | None = None,
    ) -> None:
        self.folder = folder
        names = order or list(sites)
        self.server = _workspace(folder / "server", study)
        self.engine = FakeEngine(self.server, names)
        context = _context(self.server, "server", self.engine)
        self.controller = LoopbackController(
            aggregator=UpdateAggregator(),
            task_check_period=0.001,
            ignore_result_error=True,
            expected_sites=expected or names,
            run_name="run",
            environment="loopback",
            left_out=left_out,
            resumed_because="stopped" if goes_on_from else "",
        )
        store = CheckpointPersistor()
        store.open(self.run_folder, study, goes_on_from.run_folder / FOLDER if goes_on_from else None)
        self.engine.components = {"persistor": store, "model_selector": FixedSitesSelector()}
        self.controller.fl_ctx, self.controller.engine = context, self.engine
        self.controller.persistor, self.controller.abort_signal = store, Signal()
        self.controller.tamper = tamper or (lambda _site, _task, answer: answer)
        self.controller.sent, self.controller.panics, self.controller.refusals = [], [], []
        self.controller.cancelled = 0
        states = goes_on_from.folder if goes_on_from else folder
        self.controller.executors = {
            name: site_executor(folder, study, name, sites[name], states / name / "state") for name in names
        }

    def run(self) -> "Federation":
        self.controller.run()
        return self

    @property
    def run_folder(self) -> Path:
        return Path(self.server.get_run_dir(JOB))

    @property
    def lines(self) -> list[RunLine]:
        return read_lines(self.run_folder / "metrics" / "run.jsonl")

    @property
    def start(self) -> StartLine:
        return next(line for line in self.lines if isinstance(line, StartLine))

    @property
    def rounds(self) -> list[RoundLine]:
        return [line for line in self.lines if isinstance(line, RoundLine)]

    @property
    def scores(self) -> list[ScoreLine]:
        return [line for line in self.lines if isinstance(line, ScoreLine)]

    @property
    def end(self) -> EndLine:
        end = self.lines[-1]
        assert isinstance(end, EndLine)
        return end


def site_executor(
    folder: Path, study: Study, name: str, data: dict[str, Any], state: Path | None = None
) -> tuple[SiteExecutor, FLContext]:
    """A site's executor with its own FLARE workspace and site.yaml under `folder/name`."""
    settings = dict(data)
    role, synthetic = settings.pop("role", "train"), settings.pop("synthetic", True)
    minimum_cell = settings.pop("minimum_cell", 5)
    workspace = _workspace(folder / name, study)
    site = {
        "name": name,
        "role": role,
        "synthetic": synthetic,
        "disclosure": {"minimum_cell": minimum_cell},
        "threads": 1,
        "state_folder": str(state or folder / name / "state"),
        "data": {"fake": settings},
    }
    (folder / name / "local" / "site.yaml").write_text(yaml.safe_dump(site), encoding="utf-8")
    executor = SiteExecutor()
    executor.start_worker = InProcessWorker
    return executor, _context(workspace, name, FakeEngine(workspace, []))


def _workspace(root: Path, study: Study) -> Workspace:
    for part in ("startup", "local"):
        (root / part).mkdir(parents=True)
    workspace = Workspace(str(root), root.name)
    config = Path(workspace.get_app_config_dir(JOB))
    config.mkdir(parents=True)
    text = yaml.safe_dump(study.model_dump(mode="json"), sort_keys=False)  # as the recipe: the order of columns counts
    (config / "job.yaml").write_text(text, encoding="utf-8")
    return workspace


def _context(workspace: Workspace, name: str, engine: FakeEngine) -> FLContext:
    context = FLContextManager(engine=engine, identity_name=name, job_id=JOB).new_context()
    context.set_prop(FLContextKey.WORKSPACE_OBJECT, workspace, private=True)
    context.set_prop(FLContextKey.RUNNER, SimpleNamespace(), private=True)
    return context
