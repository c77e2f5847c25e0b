"""One round: order, contributions, gate, mean, the checkpoint, and the round's line in the record."""

import time
from typing import TYPE_CHECKING

from nvflare.app_common.abstract.fl_model import FLModel
from nvflare.app_common.app_constant import AppConstants
from nvflare.app_common.app_event_type import AppEventType
from torch import Tensor

from wardround.aggregation.agreement import Agreement
from wardround.aggregation.gate import most_steps
from wardround.aggregation.norms import l2_norm
from wardround.aggregation.stragglers import stragglers
from wardround.flare import messages
from wardround.flare.aggregator import Contributions, UpdateAggregator
from wardround.flare.enrolment import entries
from wardround.flare.latecomers import Latecomers
from wardround.flare.persistor import ROUND
from wardround.flare.standing import Standing
from wardround.records.metric_record import Status, find, value_of
from wardround.records.orders import Reply
from wardround.records.reasons import Reason, WardroundError
from wardround.records.run_lines import RoundLine
from wardround.records.update import SiteRound

if TYPE_CHECKING:
    from wardround.flare.controller import RoundController


class Rounds:
    """The rounds of a run, one call each."""

    def __init__(self, controller: "RoundController", standing: Standing) -> None:
        self._controller, self._standing = controller, standing
        self._aggregator: UpdateAggregator = controller.aggregator
        self._latecomers = Latecomers(controller)

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
        if controller.abort_signal.triggered:
            return model  # the round is not over, so a run that goes on repeats it
        clock.mark("sites")
        self._aggregator.settle()
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
        self._standing.count(expected, got.differences)
        line = self._line(index, got, late, moved=l2_norm(mean.values()), enough=enough)
        line.seconds = clock.seconds()  # for the checkpoint's record, which cannot hold how long writing it takes
        if not self._standing.save(index + 1, next_model.params, line):
            line.alarms.append(str(Reason.CHECKPOINT_NOT_WRITTEN))
        clock.mark("save")
        line.seconds = clock.seconds()
        controller.record.round(line)
        return next_model

    def _score(self, index: int, got: Contributions, shared: dict[str, Tensor]) -> None:
        """Validation figures that came with the updates rate the model that this round began with."""
        evaluation = self._controller.study.evaluation
        if index % evaluation.evaluate_every:
            return
        for site, reply in sorted(got.replies.items()):
            if evaluation.key_metric not in {record.name for record in reply.records}:
                self._controller.record.incomplete(f"{site}: {Reason.METRICS_MISSING}")
            self._standing.look(site, reply.records)
        values = {site: value_of(reply.records, evaluation.key_metric) for site, reply in got.replies.items()}
        self._standing.add_scores(index, values, shared)

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

    def _line(self, index: int, got: Contributions, late: list[str], *, moved: float, enough: bool) -> RoundLine:
        alarms = sorted(got.alarms)
        alarms += [f"{site}: {Reason.STRAGGLER}" for site in stragglers(self._controller.exchange.seconds)]
        if not enough:
            alarms.append(str(Reason.QUORUM_NOT_MET if got.replies else Reason.ALL_REJECTED))
        key = self._controller.study.evaluation.key_metric
        for site, reply in sorted(got.replies.items()):
            if (figure := find(reply.records, key)) and figure.status is Status.LOW_SUPPORT:
                alarms.append(f"{site}: {Reason.CHOSEN_ON_FEW_CASES}")
        sites = {
            site: _site_round(reply, self._aggregator.weights.get(site, 0.0), got.agreement.get(site))
            for site, reply in sorted(got.replies.items())
            if reply.report is not None
        }
        alarms += [f"{site}: {flag}" for site, entry in sites.items() for flag in entry.flags]
        best = self._standing.best
        return RoundLine(
            round=index,
            rounds=self._controller.num_rounds,
            expected=self._controller.enrolled.train_sites,
            contributed=sorted(got.differences),
            rejected=dict(sorted(got.rejected.items())),
            failed=dict(sorted(got.failed.items())),
            late=late,
            sites=sites,
            moved=moved,
            best_so_far=best[0] if best else None,
            alarms=alarms,
        )


def _site_round(reply: Reply, weight: float, agreed: Agreement | None) -> SiteRound:
    assert reply.report is not None
    return SiteRound(
        report=reply.report,
        weight=weight,
        records=reply.records,
        tallies=reply.tallies,
        cosine=agreed.cosine if agreed else None,
        norm_ratio=agreed.norm_ratio if agreed else None,
        flags=[*(agreed.flags if agreed else ()), *reply.notes],
        suppressed=reply.suppressed,
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
