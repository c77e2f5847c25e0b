"""What a hospital does when asked: the tasks themselves, as plain data in and out, without FLARE."""

import logging
from collections.abc import Callable, Mapping
from time import perf_counter

from torch import Tensor, nn

from wardround.learners.learner import Learner
from wardround.learners.pausing import Pauses
from wardround.records.arms import AGAINST_ALONE, ALONE, BEST, LAST, PERSONALISED, RECALIBRATED, REFERENCE
from wardround.records.changed import changed
from wardround.records.orders import PREPARE, TASKS, TRAIN, VALIDATE, Order, Reply
from wardround.records.reasons import Reason, WardroundError
from wardround.records.scores import Scores
from wardround.records.study import Study
from wardround.site.config import SiteConfig
from wardround.site.drift import ValidationDrift
from wardround.site.open_site import OpenSite, open_learner
from wardround.site.own_model import compare_with_own_model, score_own_model
from wardround.site.prepared import prepared
from wardround.site.reference import NO_REFERENCE, score_reference
from wardround.site.scored import as_answer, draw_pictures, keep_model, scored, write_cases
from wardround.site.training_allowed import refuse_training, refuse_unsafe_quorum

_log = logging.getLogger(__name__)

_MADE_HERE = (PERSONALISED, RECALIBRATED, REFERENCE, ALONE, *AGAINST_ALONE)  # learned from this site's patients
_ARMS = (BEST, LAST, *_MADE_HERE)
_SCORED = ("validation", "test")


class SiteTasks:
    """One hospital's learner in one run, opened at the first order and kept for the life of its process.

    Args:
        study, config: what is learned, and where.
        pause_wanted: asked before each step of training; see `learners.pausing`.
    """

    def __init__(self, study: Study, config: SiteConfig, *, pause_wanted: Callable[[], bool] = lambda: False) -> None:
        self._study = study
        self._config = config
        self._pause_wanted = pause_wanted
        self._learner: Learner | None = None
        self._run = ""
        self._tuned: int | None = None  # the round of the model that the learner holds fine-tuned
        self._drift: ValidationDrift | None = None
        self._scored: dict[tuple[int, str], tuple[Scores, list[str]]] = {}

    def do(
        self, task: str, order: Order, shared: Mapping[str, Tensor] | None
    ) -> tuple[Reply, dict[str, Tensor] | None]:
        """Does the task of this name.

        Raises:
            WardroundError: why there is no result.
            Paused: training was stopped for now.
        """
        if task == PREPARE:
            return self.prepare(order), None
        if task == TRAIN:
            return self.train(order, shared)
        if task == VALIDATE:
            return self.validate(order, shared), None
        raise WardroundError(Reason.SITE_FAILED, f"task {task!r} is unknown; known: {', '.join(TASKS)}")

    def prepare(self, order: Order) -> Reply:
        """Opens the data, which may prepare every case once, and says what this site has.

        Raises:
            WardroundError: the data cannot be opened, or its inspection has an error: the site takes no part.
        """
        refuse_unsafe_quorum(self._study, self._config)
        learner = self._open(order.run)
        return Reply(manifest=prepared(self._study, self._config, learner, first_round=order.round))

    def train(self, order: Order, shared: Mapping[str, Tensor] | None) -> tuple[Reply, dict[str, Tensor]]:
        """Scores the received weights on the validation split, trains, and returns the difference."""
        self._refuse_training(order.run)
        learner = self._load(order, shared)
        scores, seconds, flags = None, 0.0, []
        if order.round % self._study.evaluation.evaluate_every == 0:
            start = perf_counter()
            scores = learner.validate()
            flags = self._drift_of(learner).look(order.model_round, scores)
            seconds = perf_counter() - start
        pauses = Pauses(self._config.state_folder / self._run / "paused", self._pause_wanted)
        update = learner.train(order.round, pauses)
        report = update.report
        reply = Reply(
            report=changed(report, seconds={**report.seconds, "validate": seconds}),
            records=scores.records if scores else [],
            tallies=scores.tallies if scores else [],
            suppressed=scores.suppressed if scores else [],
            notes=[str(flag) for flag in flags],
        )
        return reply, update.difference

    def validate(self, order: Order, shared: Mapping[str, Tensor] | None) -> Reply:
        """Scores one arm on one split, with the figures that are too slow for every round on the test split.

        Of the arm `recalibrated` no checkpoint is kept: its correction is a step after the network, not one of its
        entries, and is fitted anew from the model of the arm before it.
        """
        _refuse_unknown("arm", order.arm, _ARMS)
        _refuse_unknown("split", order.split, _SCORED)
        if order.arm in _MADE_HERE:
            self._refuse_training(order.run)
        if order.arm == REFERENCE:
            return self._reference(order)
        if order.arm == ALONE or order.arm in AGAINST_ALONE:
            return self._own_model(order)
        own = order.arm in (PERSONALISED, RECALIBRATED)
        learner = self._load_tuned(order, shared) if own else self._load(order, shared)
        detail = order.split == "test"
        key = (order.model_round, order.split)
        if own:
            network = self._recalibrated(learner) if order.arm == RECALIBRATED else learner.network
            scores, notes = learner.score(order.split, detail=detail, network=network), list(learner.notes)
        elif key in self._scored:  # best and last are one model as often as not
            scores, notes = self._scored[key]
        else:
            scores = learner.score(order.split, detail=detail)
            notes = list(learner.notes)  # says whether BatchNorm statistics had to be re-measured for it
            self._scored[key] = scores, notes
        if (
            order.arm == LAST and order.split == "validation"
        ):  # it competes with the rounds' models, and is looked at so
            flags = self._drift_of(learner).look(order.model_round, scores)
            notes = [*notes, *map(str, flags)]
        folder = self._config.state_folder / self._run
        write_cases(folder, order.arm, scores)
        if detail and order.arm in (BEST, PERSONALISED):
            keep_model(
                folder / "models" / order.arm,
                self._study,
                learner,
                order.model_round,
                site=self._config.name,
                notes=notes,
            )
        if detail and order.arm == BEST and not learner.lacks_own_entries:
            draw_pictures(folder / "pictures", learner, order.split)
        return scored(scores, notes)

    def _reference(self, order: Order) -> Reply:
        """Fits the workload's simple model on this site's training cases, and scores it."""
        learner = self._open(order.run)
        reference = learner.workload.reference(learner.data)
        scores = score_reference(learner.workload, learner.data, reference, order.split)
        write_cases(self._config.state_folder / self._run, order.arm, scores)
        return scored(scores, [] if reference is not None else [NO_REFERENCE])

    def _drift_of(self, learner: Learner) -> ValidationDrift:
        if self._drift is None:
            config, folder = self._config, self._config.state_folder / self._run
            self._drift = ValidationDrift(self._study, learner.workload, folder, config.disclosure)
        return self._drift

    def _own_model(self, order: Order) -> Reply:
        """Trains this site alone, or compares what the federation made with that."""
        learner, config, run = self._open(order.run), self._config, self._run
        site = OpenSite(learner.workload, learner.data)
        if arm := AGAINST_ALONE.get(order.arm):
            return Reply(records=compare_with_own_model(self._study, config, site, arm, run=run))
        pauses = Pauses(config.state_folder / run / "paused-alone", self._pause_wanted)
        return as_answer(score_own_model(self._study, config, site, run=run, pauses=pauses))

    def _refuse_training(self, run: str) -> None:
        refuse_training(self._study, self._config, lambda: self._open(run).data.counts.get("train_patients", 0))

    def _load(self, order: Order, shared: Mapping[str, Tensor] | None) -> Learner:
        self._tuned = None
        learner = self._open(order.run)
        learner.acknowledge(order.acknowledged.get(self._config.name))
        learner.load(shared or {}, model_round=order.model_round)
        return learner

    def _load_tuned(self, order: Order, shared: Mapping[str, Tensor] | None) -> Learner:
        """The received model, fine-tuned where that helps: once for the arms that start from it."""
        steps = self._study.evaluation.personalise_steps
        if self._learner is None or order.run != self._run or self._tuned != order.model_round:
            learner = self._load(order, shared)
            if steps:
                learner.personalise(steps)
            self._tuned = order.model_round
        assert self._learner is not None
        return self._learner

    def _recalibrated(self, learner: Learner) -> nn.Module:
        self._tuned = None  # what comes next starts anew, without this arm's note
        return learner.recalibrate()

    def _open(self, run: str) -> Learner:
        if self._learner is None or run != self._run:
            self._learner, self._run = open_learner(self._study, self._config, run=run), run
            self._scored.clear()
            self._drift = None
            _log.info("%s: %d entries are shared", run, len(self._learner.shared_names))
        return self._learner


def _refuse_unknown(what: str, name: str, known: tuple[str, ...]) -> None:
    if name not in known:
        raise WardroundError(Reason.SITE_FAILED, f"validate: {what} {name!r} is unknown; known: {', '.join(known)}")
