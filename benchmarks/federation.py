"""A federation in one process, without FLARE: the learners' own behaviour, for benchmarks over many seeds."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from wardround.aggregation.mean import weighted_mean
from wardround.learners.make import make_learner
from wardround.records.metric_record import value_of
from wardround.records.scores import Scores
from wardround.records.study import Study
from wardround.workloads.workload import SiteData, Workload


@dataclass
class Result:
    """Scores of the last global model at every site, and the key metric by round."""

    test: dict[str, Scores]
    curve: list[dict[str, float | None]] = field(default_factory=list)


def federate(study: Study, workload: Workload, sites: Mapping[str, SiteData], *, run: str) -> Result:
    """Runs the study's rounds over all sites with equal weights and scores the last model on each test split."""
    learners = {name: make_learner(workload, data, study, site=name, run=run) for name, data in sites.items()}
    shared = initial_weights(study, workload, next(iter(learners.values())).shared_names)
    result = Result(test={})
    for round_index in range(study.training.rounds):
        differences = {}
        for name, learner in learners.items():
            learner.load(shared, model_round=round_index)
            differences[name] = learner.train(round_index).difference
            learner.acknowledge(round_index)
        mean = weighted_mean(differences, dict.fromkeys(learners, 1.0))
        shared = {name: tensor + mean[name] for name, tensor in shared.items()}
        for learner in learners.values():
            learner.load(shared, model_round=round_index + 1)
        result.curve.append(
            {name: value_of(one.validate().records, study.evaluation.key_metric) for name, one in learners.items()}
        )
    result.test = {name: learner.score("test") for name, learner in learners.items()}
    return result


def initial_weights(study: Study, workload: Workload, names: tuple[str, ...]) -> dict[str, Tensor]:
    """The initial global model's shared entries, from the study's seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(study.seed)
        entries = workload.network().state_dict()
    return {name: entries[name].detach().clone() for name in names}
