"""The rounds of a baseline, and the choice among their models."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from torch import Tensor

from wardround.aggregation.selection import choose_best
from wardround.learners.fill import all_entries, fill_network
from wardround.learners.learner import Learner
from wardround.learners.pausing import Pauses
from wardround.records.metric_record import MetricRecord, value_of
from wardround.records.run_lines import BaselineRoundLine, RunLine
from wardround.site.arm_progress import ArmProgress, ProgressFile
from wardround.workloads.site_data import SiteData

_log = logging.getLogger(__name__)

Emit = Callable[[RunLine], None]


@dataclass(frozen=True)
class Arm:
    """A baseline's name, and the sites whose training cases it sees and whose validation cases choose its model."""

    name: str
    sites: tuple[str, ...]


@dataclass(frozen=True)
class Chosen:
    """The model that validation picked."""

    entries: Mapping[str, Tensor]
    model_round: int
    notes: tuple[str, ...]


def train_rounds(
    learner: Learner,
    arm: Arm,
    shared: Mapping[str, Tensor],
    judges: Mapping[str, SiteData],
    emit: Emit,
    *,
    pauses: Pauses | None = None,
    kept: ProgressFile | None = None,
) -> Chosen:
    """Trains all of the study's rounds, one model after the other, and picks one by validation.

    Args:
        learner: of the arm's data.
        shared: the first model.
        judges: whose validation cases choose.
        emit: takes each round's figures as they are known, once; not again of rounds that `kept` holds.
        pauses: where and when a round may be paused.
        kept: holds the rounds that are done, and is gone on from.

    Raises:
        Paused: for now.
    """
    study = learner.study
    rounds, every = study.training.rounds, study.evaluation.evaluate_every
    key, mode = study.evaluation.key_metric, study.evaluation.key_metric_mode
    before = kept.read() if kept else ArmProgress()
    values, best = dict(before.values), before.best
    if before.rounds_done:
        _log.info("%s: goes on after %d of %d rounds", arm.name, before.rounds_done, rounds)
        fill_network(learner.network, before.network)
        shared = learner.shared_entries()
    for index in range(before.rounds_done, rounds):
        learner.load(shared, model_round=index)
        learner.train(index, pauses)
        shared, model_round = learner.shared_entries(), index + 1
        if not model_round % every or model_round == rounds:
            records: dict[str, list[MetricRecord]] = {
                site: data.score(learner.network, "validation").records for site, data in judges.items()
            }
            emit(BaselineRoundLine(arm=arm.name, round=model_round, sites=records))
            values[model_round] = {site: value_of(found, key) for site, found in records.items()}
            if choose_best(values, arm.sites, mode) == model_round:
                best = model_round, all_entries(learner.network)
        if kept:
            kept.write(ArmProgress(model_round, all_entries(learner.network), values, best))
    if best is None:
        return Chosen(all_entries(learner.network), rounds, ("no_round_with_key_metric",))
    return Chosen(best[1], best[0], ())
