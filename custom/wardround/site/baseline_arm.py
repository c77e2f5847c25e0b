"""One baseline: a hospital alone, or all data pooled, trained and scored like the federation."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from wardround.aggregation.selection import choose_best
from wardround.learners.checkpoint import make_checkpoint, save_checkpoint
from wardround.learners.fill import all_entries, fill_network
from wardround.learners.initial import with_statistics
from wardround.learners.learner import Learner
from wardround.learners.pausing import Pauses
from wardround.records.arms import POOLED, POOLED_REFERENCE
from wardround.records.changed import changed
from wardround.records.metric_record import MetricRecord, value_of
from wardround.records.reasons import WardroundError
from wardround.records.run_lines import BaselineRoundLine, RunLine, ScoreLine
from wardround.records.scores import Scores
from wardround.records.study import Study
from wardround.records.study_sections import Algorithm
from wardround.site.case_store import write_case_scores
from wardround.site.config import SiteConfig
from wardround.site.open_site import OpenSite
from wardround.site.reference import NO_REFERENCE, score_reference
from wardround.workloads.site_data import SiteData

Opener = Callable[[Study, SiteConfig], OpenSite]
Emit = Callable[[RunLine], None]


@dataclass(frozen=True)
class Arm:
    """A baseline's name, and the sites whose training cases it sees and whose validation cases choose its model."""

    name: str
    sites: tuple[str, ...]


@dataclass(frozen=True)
class _Chosen:
    """The model that validation picked."""

    entries: Mapping[str, Tensor]
    model_round: int
    notes: tuple[str, ...]


def train_and_score(
    arm: Arm,
    study: Study,
    configs: Sequence[SiteConfig],
    run: str,
    out: Path,
    opener: Opener,
    emit: Emit,
    *,
    pauses: Pauses | None = None,
) -> None:
    """Trains an arm for the study's rounds, picks a round by validation, and scores it on every site's test cases.

    The first model rests on the arm's own sums. With all data in one place the workload's simple model, if it has
    one, is fitted to the same cases and scored beside it, as the arm `pooled_reference`.

    Args:
        arm: what to train on.
        study: the federation's; the algorithm's correction and sharing have no meaning without a federation.
        configs: every site, the outside hospital too.
        run: names the sites' folders for per-case scores.
        out: the run's folder; the model goes to `models/<arm>`.
        opener: how a site is opened.
        emit: takes each line as it is known.
        pauses: where and when training may be paused. The rounds before are made again then, to the same bits.

    Raises:
        Paused: training was stopped for now.
    """
    opened = {config.name: _open(opener, study, config) for config in configs}
    workload = opened[arm.sites[0]].workload
    own = [opened[site].data for site in arm.sites]
    data = own[0] if len(own) == 1 else workload.pool(own)
    device = next(config.device for config in configs if config.name == arm.sites[0])
    alike = _without_federation(study, arm)
    site = arm.sites[0] if len(arm.sites) == 1 else POOLED
    learner = Learner(workload, data, alike, site=site, run=run, device=device)
    judges = {site: opened[site].data for site in arm.sites}
    statistics = [tally for _, judge in sorted(judges.items()) for tally in judge.statistics()]
    shared = with_statistics(learner.shared_entries(), workload, statistics)
    chosen = _train(learner, arm, shared, judges, emit, pauses)
    fill_network(learner.network, chosen.entries)
    checkpoint = make_checkpoint(
        chosen.entries, alike, model_round=chosen.model_round, workload=workload, notes=chosen.notes
    )
    save_checkpoint(out / "models" / arm.name.replace(":", "-"), checkpoint)
    for config in configs:
        scores = opened[config.name].data.score(learner.network, "test", detail=True)
        _tell(arm.name, config, scores, run, emit, model_round=chosen.model_round, notes=chosen.notes)
    if arm.name != POOLED or not workload.has_reference:
        return
    reference = workload.reference(data)
    for config in configs:
        scores = score_reference(workload, opened[config.name].data, reference, "test")
        _tell(POOLED_REFERENCE, config, scores, run, emit, notes=() if reference is not None else (NO_REFERENCE,))


def _open(opener: Opener, study: Study, config: SiteConfig) -> OpenSite:
    try:
        return opener(study, config)
    except WardroundError as error:  # an arm opens every site, so its own name does not say whose data it is
        raise WardroundError(error.code, f"{config.name}: {error}") from error


def _tell(
    arm: str,
    config: SiteConfig,
    scores: Scores,
    run: str,
    emit: Emit,
    *,
    model_round: int | None = None,
    notes: tuple[str, ...] = (),
) -> None:
    if scores.cases:  # an arm without a model has nothing to compare
        write_case_scores(config.state_folder / run, arm, scores)
    emit(
        ScoreLine(
            arm=arm,
            split=scores.split,
            site=config.name,
            role=config.role,
            model_round=model_round,
            records=scores.records,
            tallies=scores.tallies,
            cohorts=scores.cohorts,
            alerts=scores.alerts,
            notes=list(notes),
            suppressed=scores.suppressed,
        )
    )


def _train(
    learner: Learner,
    arm: Arm,
    shared: Mapping[str, Tensor],
    judges: Mapping[str, SiteData],
    emit: Emit,
    pauses: Pauses | None,
) -> _Chosen:
    study = learner.study
    rounds, every = study.training.rounds, study.evaluation.evaluate_every
    key, mode = study.evaluation.key_metric, study.evaluation.key_metric_mode
    values: dict[int, dict[str, float | None]] = {}
    best: _Chosen | None = None
    for index in range(rounds):
        learner.load(shared, model_round=index)
        learner.train(index, pauses)
        shared, model_round = learner.shared_entries(), index + 1
        if model_round % every and model_round < rounds:
            continue
        records: dict[str, list[MetricRecord]] = {
            site: data.score(learner.network, "validation").records for site, data in judges.items()
        }
        emit(BaselineRoundLine(arm=arm.name, round=model_round, sites=records))
        values[model_round] = {site: value_of(found, key) for site, found in records.items()}
        if choose_best(values, arm.sites, mode) == model_round:
            best = _Chosen(all_entries(learner.network), model_round, ())
    return best or _Chosen(all_entries(learner.network), rounds, ("no_round_with_key_metric",))


def _without_federation(study: Study, arm: Arm) -> Study:
    """The same study for one learner: as many steps a round as all of the arm's sites make together."""
    training = study.training
    if training.local_steps is not None:  # an epoch of pooled data is already every site's
        training = changed(training, local_steps=training.local_steps * len(arm.sites))
    return changed(study, algorithm=Algorithm(), training=training)
