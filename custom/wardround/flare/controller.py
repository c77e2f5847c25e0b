"""RoundController: the server's side of a run, from `prepare` to the last score."""

import re
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nvflare.apis.controller_spec import ClientTask, Task
from nvflare.apis.fl_constant import ReturnCode
from nvflare.apis.fl_context import FLContext
from nvflare.app_common.abstract.fl_model import FLModel
from nvflare.app_common.app_constant import AppConstants
from nvflare.app_common.workflows.fedavg import FedAvg
from nvflare.widgets.info_collector import GroupInfoCollector, InfoCollector

from wardround.flare import final_scoring
from wardround.flare.aggregator import UpdateAggregator
from wardround.flare.enrolment import Enrolled, enrol, first_model
from wardround.flare.exchange import Answers, Exchange
from wardround.flare.persistor import CheckpointPersistor
from wardround.flare.record import RunRecord
from wardround.flare.resumption import go_on
from wardround.flare.rounds import Rounds
from wardround.flare.selector import FixedSitesSelector
from wardround.flare.standing import Standing
from wardround.learners.checkpoint import weights_sha256
from wardround.records.arms import BEST, LAST
from wardround.records.orders import Order
from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import Study


class RoundController(FedAvg):
    """FLARE's FedAvg with its loop replaced: prepare, rounds, choice of the best model, final scores.

    Every enrolled training site is asked in every round, never a sample. A site that fails, is late or is rejected
    does not end the run while the quorum of accepted contributions holds.

    Args:
        expected_sites: names that should take part; who does not is named and makes the run partial. Empty: all
            that are connected.
        run_name: names the run at the sites; empty: FLARE's job id.
        environment: `sim`, `poc` or `prod`, for the record.
        left_out: sites that a run which goes on does without.
        resumed_because: how such a run had ended before, for the record.
        *args, **kwargs: FedAvg's. They must have these names: FLARE writes a job's arguments by introspection.
    """

    def __init__(
        self,
        *args: Any,
        expected_sites: list[str] | None = None,
        run_name: str = "",
        environment: str = "flare",
        left_out: list[str] | None = None,
        resumed_because: str = "",
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.expected_sites = expected_sites or []
        self.run_name = run_name
        self.environment = environment
        self.left_out = left_out or []
        self.resumed_because = resumed_because
        self.exchange = Exchange(self)
        self.acknowledged: dict[str, int] = {}
        self._sent: Task | None = None
        self.study: Study
        self.record: RunRecord
        self.enrolled: Enrolled

    @property
    def task_check_period(self) -> float:
        """Seconds between two looks at whether a task is settled."""
        return float(self._task_check_period)

    def run(self) -> None:
        """The whole run. A `WardroundError` ends it with its one line in the record and FLARE's job as failed."""
        self.record = RunRecord(Path(self.get_run_dir()))
        try:
            self._run()
        except WardroundError as error:
            self.record.fail(str(error))
            self.panic(str(error))
        if self.record.unwritten:
            self.panic(f"{self.record.file.name}: its last lines could not be written; see to the server's disk")

    def _run(self) -> None:
        persistor, selector = self.persistor, self.get_component("model_selector")
        assert isinstance(persistor, CheckpointPersistor)
        assert isinstance(selector, FixedSitesSelector)
        assert isinstance(self.aggregator, UpdateAggregator)
        self.study = persistor.study
        self.num_rounds = self.study.training.rounds
        self.fl_ctx.set_prop(AppConstants.NUM_ROUNDS, self.num_rounds, private=True, sticky=False)
        model = self.load_model()
        standing = Standing(self, persistor, selector)
        earlier = persistor.earlier()
        if earlier is not None:
            model = go_on(self, standing, model, earlier)
        else:
            self.enrolled = enrol(self, model.params)
            self.record.start(
                self.run_id(), self.environment, self.study, self.enrolled.manifests, self.enrolled.missing
            )
            model.params = first_model(self.study, self.enrolled, model.params)
            selector.begin(self.study.evaluation, tuple(self.enrolled.train_sites))
            if not standing.save(0, model.params):
                self.record.incomplete(f"before round 1: {Reason.CHECKPOINT_NOT_WRITTEN}")
        rounds = Rounds(self, standing)
        for index in range(earlier.state.rounds_done if earlier else 0, self.num_rounds):
            self.current_round = index
            model = rounds.one(model)
            if self.abort_signal.triggered:
                return
        self._finish(model, standing)

    def _finish(self, model: FLModel, standing: Standing) -> None:
        for site, reason in standing.seldom().items():
            self.record.incomplete(f"{site}: {reason}")
        last = final_scoring.model(LAST, self.num_rounds, model.params)
        standing.add_scores(self.num_rounds, final_scoring.score_last_on_validation(self, last), model.params)
        if standing.best is None:
            self.record.incomplete(
                "no round has a validation score from every training site: best is the last model" + standing.why_none()
            )
            standing.keep_best(self.num_rounds, model.params)
        assert standing.best is not None
        self.get_component("model_selector").announce(self.fl_ctx)
        best = final_scoring.model(BEST, *standing.best)
        final_scoring.score_arms(self, best, last)
        if self.abort_signal.triggered:
            return
        standing.keep_models(model.params)
        best_round, best_weights = standing.best
        self.record.end(
            best=(best_round, weights_sha256(best_weights)), last=(self.num_rounds, weights_sha256(model.params))
        )
        if not self.record.partial and not self.record.unwritten:
            standing.forget_checkpoints()

    def order(self, round_index: int, model_round: int, **arm: str) -> Order:
        """What to tell the sites with a task."""
        return Order(
            run=self.run_id(), round=round_index, model_round=model_round, acknowledged=dict(self.acknowledged), **arm
        )

    def send(self, model: FLModel, task_name: str, **options: Any) -> Task:
        """Broadcasts without waiting and returns FLARE's task, which `broadcast_model` keeps to itself."""
        self.broadcast_model(model, task_name, blocking=False, **options)
        assert self._sent is not None
        return self._sent

    def _prepare_task(self, *args: Any, **kwargs: Any) -> Task:
        self._sent = super()._prepare_task(*args, **kwargs)
        return self._sent

    def connected(self) -> list[str]:
        """Names of the sites that are connected now."""
        return sorted(client.name for client in self.engine.get_clients())

    def handle_event(self, event_type: str, fl_ctx: FLContext) -> None:
        """Answers `show_stats`, so that a lead sees progress without any right to the logs."""
        super().handle_event(event_type, fl_ctx)
        if event_type == InfoCollector.EVENT_TYPE_GET_STATS:
            collector = fl_ctx.get_prop(InfoCollector.CTX_KEY_STATS_COLLECTOR)
            if isinstance(collector, GroupInfoCollector) and hasattr(self, "record"):
                collector.set_info(type(self).__name__, self.record.stats())

    def _process_result(self, client_task: ClientTask, fl_ctx: FLContext) -> None:
        code = client_task.result.get_return_code()
        answers = client_task.task.get_prop(AppConstants.TASK_PROP_CALLBACK)
        if code and code != ReturnCode.OK and isinstance(answers, Answers):
            answers.lose(client_task.client.name)  # FLARE calls no callback for such an answer
        super()._process_result(client_task, fl_ctx)

    def run_id(self) -> str:
        """The run's name, which a run that goes on keeps in its next job."""
        if self.run_name:
            return self.run_name
        return re.sub(r"[^A-Za-z0-9_-]", "-", str(self.fl_ctx.get_job_id()))


def new_run_name(study: Study) -> str:
    """A name that no earlier run at a site has: study, day and time."""
    return f"{study.name}-{datetime.now(UTC):%Y%m%d-%H%M%S}-{time.time_ns() % 1000:03d}"
