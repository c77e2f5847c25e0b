"""A federation in one process, without FLARE: the learners' own behaviour, for benchmarks over many seeds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from wardround.aggregation.mean import weighted_mean
from wardround.aggregation.selection import choose_best
from wardround.learners.initial import initial_shared_entries
from wardround.learners.learner import Learner
from wardround.learners.make import make_learner
from wardround.records.arms import BEST, LAST, PERSONALISED, POOLED, RECALIBRATED
from wardround.records.metric_record import value_of
from wardround.records.scores import Scores
from wardround.records.study import Study
from wardround.records.study_sections import Algorithm
from wardround.workloads.site_data import SiteData
from wardround.workloads.workload import Workload


@dataclass(frozen=True)
class Result:
    """Test scores by arm and site, and the round that validation chose: the last where none can be chosen."""

    test: dict[str, dict[str, Scores]]
    best_round: int


def federate(
    study: Study, workload: Workload, sites: Mapping[str, SiteData], *, run: str, arms: Sequence[str] = (LAST,)
) -> Result:
    """Runs the study's rounds over all sites and scores each arm on each site's test split.

    Args:
        study: its weighting counts patients, steps or sites, as at the server.
        workload, sites: what is learned, and every site's data.
        run: told in the log.
        arms: of `best`, `last`, `personalised` and `recalibrated`; rounds are validated if any but `last` is asked.
    """
    learners = {name: make_learner(workload, data, study, site=name, run=run) for name, data in sites.items()}
    return _run(study, workload, learners, {name: (learners[name], data) for name, data in sites.items()}, arms)


def pooled(study: Study, workload: Workload, sites: Mapping[str, SiteData], *, run: str) -> Result:
    """One model of all sites' training cases, its round chosen on every site's validation cases.

    A round makes as many epochs as a site's; the algorithm's correction and sharing mean nothing without a federation.
    """
    alike = study.model_copy(update={"algorithm": Algorithm()})
    learner = make_learner(workload, workload.pool(list(sites.values())), alike, site=POOLED, run=run)
    return _run(alike, workload, {POOLED: learner}, {name: (learner, data) for name, data in sites.items()}, (BEST,))


_Judges = Mapping[str, tuple[Learner, SiteData]]


def _run(
    study: Study, workload: Workload, learners: Mapping[str, Learner], judges: _Judges, arms: Sequence[str]
) -> Result:
    """Trains by `learners`, and scores each judge's data with its learner's network."""
    statistics = [tally for _, learner in sorted(learners.items()) for tally in learner.data.statistics()]
    shared = initial_shared_entries(workload, study, statistics)
    models, values = [shared], {}
    choosing = any(arm != LAST for arm in arms)
    for round_index in range(study.training.rounds):
        if choosing:
            values[round_index] = _validate(study, judges, shared, round_index)
        shared = _next(study, learners, shared, round_index)
        models.append(shared)
    last = study.training.rounds
    if choosing:
        values[last] = _validate(study, judges, shared, last)
    chosen = choose_best(values, list(judges), study.evaluation.key_metric_mode)
    best = last if chosen is None else chosen
    test = {}
    for arm in arms:
        model_round = last if arm == LAST else best
        test[arm] = {
            site: _score(study, arm, learner, data, models[model_round], model_round)
            for site, (learner, data) in judges.items()
        }
    return Result(test, best)


def _next(study: Study, learners: Mapping[str, Learner], shared: dict[str, Tensor], index: int) -> dict[str, Tensor]:
    differences, weights = {}, {}
    for name, learner in learners.items():
        learner.load(shared, model_round=index)
        update = learner.train(index)
        learner.acknowledge(index)
        differences[name] = update.difference
        weights[name] = float(
            {"patients": update.report.patients, "steps": update.report.steps, "equal": 1}[study.aggregation.weighting]
        )
    mean = weighted_mean(differences, weights)
    return {name: tensor + mean[name] for name, tensor in shared.items()}


def _validate(study: Study, judges: _Judges, shared: dict[str, Tensor], index: int) -> dict[str, float | None]:
    values = {}
    for site, (learner, data) in judges.items():
        learner.load(shared, model_round=index)
        values[site] = value_of(data.score(learner.network, "validation").records, study.evaluation.key_metric)
    return values


def _score(
    study: Study, arm: str, learner: Learner, data: SiteData, shared: dict[str, Tensor], model_round: int
) -> Scores:
    learner.load(shared, model_round=model_round)
    if arm in (PERSONALISED, RECALIBRATED) and study.evaluation.personalise_steps:
        learner.personalise(study.evaluation.personalise_steps)
    return data.score(learner.recalibrate() if arm == RECALIBRATED else learner.network, "test")
