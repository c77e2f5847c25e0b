"""A federation in one process, without FLARE: the learners' own behaviour, for benchmarks over many seeds."""

from collections.abc import Mapping
from dataclasses import dataclass

from wardround.aggregation.mean import weighted_mean
from wardround.learners.initial import initial_shared_entries
from wardround.learners.make import make_learner
from wardround.records.scores import Scores
from wardround.records.study import Study
from wardround.workloads.workload import SiteData, Workload


@dataclass
class Result:
    """Scores of the last global model at every site."""

    test: dict[str, Scores]


def federate(study: Study, workload: Workload, sites: Mapping[str, SiteData], *, run: str) -> Result:
    """Runs the study's rounds over all sites with equal weights and scores the last model on each test split."""
    learners = {name: make_learner(workload, data, study, site=name, run=run) for name, data in sites.items()}
    statistics = [tally for _, data in sorted(sites.items()) for tally in data.statistics()]
    shared = initial_shared_entries(workload, study, statistics)
    for round_index in range(study.training.rounds):
        differences = {}
        for name, learner in learners.items():
            learner.load(shared, model_round=round_index)
            differences[name] = learner.train(round_index).difference
            learner.acknowledge(round_index)
        mean = weighted_mean(differences, dict.fromkeys(learners, 1.0))
        shared = {name: tensor + mean[name] for name, tensor in shared.items()}
    for learner in learners.values():
        learner.load(shared, model_round=study.training.rounds)
    return Result({name: learner.score("test") for name, learner in learners.items()})
