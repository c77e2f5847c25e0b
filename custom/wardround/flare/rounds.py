"""One round: order, contributions, gate, mean, the best model so far, and the round's line in the record."""

import time
from collections import Counter
from typing import TYPE_CHECKING

from nvflare.app_common.abstract.fl_model import FLModel
from nvflare.app_common.app_constant import AppConstants
from nvflare.app_common.app_event_type import AppEventType
from torch import Tensor

from wardround.aggregation.gate import most_steps
from wardround.aggregation.norms import l2_norm
from wardround.flare import messages
from wardround.flare.aggregator import Contributions, UpdateAggregator
from wardround.flare.enrolment import entries
from wardround.flare.latecomers import Latecomers
from wardround.flare.persistor import ROUND, CheckpointPersistor
from wardround.flare.selector import FixedSitesSelector
from wardround.flare.undefined_key import UndefinedKey
from wardround.records.arms import BEST
from wardround.records.metric_record import Status, find, value_of
from wardround.records.reasons import Reason, WardroundError
from wardround.records.run_lines import RoundLine
from wardround.records.update import SiteRound

if TYPE_CHECKING:
    from wardround.flare.controller import RoundController


class Rounds:
    """The rounds of a run, one call each. Keeps the best model so far, on disk and in memory."""

    def __init__(
        self, controller: "RoundController", persistor: CheckpointPersistor, selector: FixedSitesSelector
    ) -> None:
        self._controller, self._persistor, self._selector = controller, persistor, selector
        self._aggregator: UpdateAggregator = controller.aggregator
        self._latecomers = Latecomers(controller)
        self._expected: Counter[str] = Counter()
        self._contributed: Counter[str] = Counter()
        self._undefined = UndefinedKey(controller.study.evaluation.key_metric)
        self.best: tuple[int, dict[str, Tensor]] | None = None

    def one(self, model: FLModel) -> FLModel:
        """Sends `model`, combines what comes back, and returns the next one.

        Raises:
            WardroundError: fewer sites than the quorum are connected, or fewer contributed because sites failed or
                were late. Where the gate alone turned contributions away the model stays and the run goes on.
        """
        controller, clock = self._controller, _Clock()
        index, study = controller.current_round, controller.study
        self._latecomers.admit(model.params)
        self._latecomers.invite()
        expected = controller.enrolled.train_sites
        there = set(controller.connected())
        connected = [site for site in expected if site in there]
        absent = [site for site in expected if site not in there]
        self._quorum(len(connected), f"{_list(absent)} not connected")
        controller.fl_ctx.set_prop(AppConstants.CURRENT_ROUND, index, private=True, sticky=False)
        controller.event(AppEventType.ROUND_STARTED)
        counts = {site: controller.enrolled.manifests[site].counts for site in connected}
        self._aggregator.begin(
            study.aggregation,
            entries(model.params),
            patients={site: controller.enrolled.patients[site] for site in connected},
            most_steps={site: most_steps(study.training, own.get("train_cases", 0)) for site, own in counts.items()},
        )
        late = controller.exchange.ask(
            messages.TRAIN,
            controller.order(index, index),
            connected,
            self._aggregator.accept_model,
            deadline=study.federation.round_deadline_seconds,
            params=model.params,
            quorum=study.federation.quorum,
            grace=study.federation.grace_period_seconds,
        )
        clock.mark("sites")
        got = self._aggregator.contributions
        got.failed |= controller.exchange.lost | dict.fromkeys(absent, Reason.DISCONNECTED)
        self._score(index, got, model.params)
        enough = self._enough(got, late)
        if not enough:
            got.differences.clear()
        mean, next_model = self._aggregate(model, len(got.differences))
        clock.mark("aggregate")
        if enough:
            controller.acknowledged |= dict.fromkeys(got.replies, index)
            controller.save_model(next_model)
        self._expected.update(expected)
        self._contributed.update(list(got.differences))
        clock.mark("save")
        self._write(index, got, late, moved=l2_norm(mean.values()), enough=enough, seconds=clock.seconds())
        return next_model

    def seldom(self) -> dict[str, Reason]:
        """Sites that the result hardly rests on: accepted in no round, or in fewer than half of those they were in."""
        return {
            site: Reason.RARELY_CONTRIBUTED if self._contributed[site] else Reason.NEVER_CONTRIBUTED
            for site, rounds in sorted(self._expected.items())
            if 2 * self._contributed[site] < rounds
        }

    def why_none(self) -> str:
        """What to add where no round could be chosen; see `UndefinedKey`."""
        return self._undefined.explanation()

    def add_scores(self, model_round: int, values: dict[str, float | None], shared: dict[str, Tensor]) -> None:
        """Lets one model compete; where it leads now, it is kept."""
        if self._selector.add(model_round, values) == model_round:
            self.keep_best(model_round, shared)

    def keep_best(self, model_round: int, shared: dict[str, Tensor]) -> None:
        """Stores a model as the best so far."""
        self.best = model_round, dict(shared)
        self._persistor.store(BEST, shared, model_round)

    def _score(self, index: int, got: Contributions, shared: dict[str, Tensor]) -> None:
        """Validation figures that came with the updates rate the model that this round began with."""
        evaluation = self._controller.study.evaluation
        if index % evaluation.evaluate_every:
            return
        for site, reply in sorted(got.replies.items()):
            if evaluation.key_metric not in {record.name for record in reply.records}:
                self._controller.record.incomplete(f"{site}: {Reason.METRICS_MISSING}")
            self._undefined.look(site, reply.records)
        values = {site: value_of(reply.records, evaluation.key_metric) for site, reply in got.replies.items()}
        self.add_scores(index, values, shared)

    def _enough(self, got: Contributions, late: list[str]) -> bool:
        if len(got.differences) >= self._controller.study.federation.quorum:
            return True
        lost = {**got.failed, **dict.fromkeys(late, Reason.LATE)}
        if lost:
            self._quorum(len(got.differences), _reasons({**got.rejected, **lost}))
        self._controller.record.incomplete(f"round {self._controller.current_round + 1}: {_reasons(got.rejected)}")
        return False

    def _quorum(self, count: int, why: str) -> None:
        quorum = self._controller.study.federation.quorum
        if count < quorum and not self._controller.abort_signal.triggered:
            round_number = self._controller.current_round + 1
            raise WardroundError(
                Reason.QUORUM_NOT_MET, f"round {round_number}: {count} sites of a quorum of {quorum} ({why})"
            )

    def _aggregate(self, model: FLModel, received: int) -> tuple[dict[str, Tensor], FLModel]:
        controller = self._controller
        controller.event(AppEventType.BEFORE_AGGREGATION)
        controller._received_count = received
        result = controller._get_aggregated_result()
        controller.fire_event_with_data(
            AppEventType.AFTER_AGGREGATION, controller.fl_ctx, AppConstants.AGGREGATION_RESULT, result
        )
        # a new dictionary: update_model writes into the one that it is given, which may be the best model
        following = FLModel(params=dict(model.params), params_type=model.params_type, meta=dict(model.meta or {}))
        following = controller.update_model(following, result)
        following.meta = {**(following.meta or {}), ROUND: controller.current_round + 1}
        return result.params, following

    def _write(
        self, index: int, got: Contributions, late: list[str], *, moved: float, enough: bool, seconds: dict[str, float]
    ) -> None:
        alarms = sorted(got.alarms)
        if not enough:
            alarms.append(str(Reason.QUORUM_NOT_MET if got.replies else Reason.ALL_REJECTED))
        key = self._controller.study.evaluation.key_metric
        for site, reply in sorted(got.replies.items()):
            if (figure := find(reply.records, key)) and figure.status is Status.LOW_SUPPORT:
                alarms.append(f"{site}: {Reason.CHOSEN_ON_FEW_CASES}")
        sites = {
            site: SiteRound(
                report=reply.report,
                weight=self._aggregator.weights.get(site, 0.0),
                records=reply.records,
                tallies=reply.tallies,
            )
            for site, reply in sorted(got.replies.items())
            if reply.report is not None
        }
        self._controller.record.round(
            RoundLine(
                round=index,
                rounds=self._controller.num_rounds,
                expected=self._controller.enrolled.train_sites,
                contributed=sorted(got.differences),
                rejected=dict(sorted(got.rejected.items())),
                failed=dict(sorted(got.failed.items())),
                late=late,
                sites=sites,
                moved=moved,
                best_so_far=self.best[0] if self.best else None,
                seconds=seconds,
                alarms=alarms,
            )
        )


class _Clock:
    """Wall time by phase."""

    def __init__(self) -> None:
        self._start = self._last = time.monotonic()
        self._phases: dict[str, float] = {}

    def mark(self, phase: str) -> None:
        now = time.monotonic()
        self._phases[phase] = now - self._last
        self._last = now

    def seconds(self) -> dict[str, float]:
        return {"total": self._last - self._start, **self._phases}


def _reasons(by_site: dict[str, str]) -> str:
    return ", ".join(f"{site}: {reason}" for site, reason in sorted(by_site.items()))


def _list(names: list[str]) -> str:
    return ", ".join(names) or "none"
