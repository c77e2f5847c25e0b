"""One baseline: a hospital alone, or all data pooled, trained and scored like the federation."""

from collections.abc import Callable, Sequence
from pathlib import Path

from wardround.learners.checkpoint import make_checkpoint, save_checkpoint, weights_sha256
from wardround.learners.fill import fill_network
from wardround.learners.initial import with_statistics
from wardround.learners.learner import Learner
from wardround.learners.pausing import Pauses
from wardround.records.arms import POOLED, POOLED_REFERENCE
from wardround.records.changed import changed
from wardround.records.reasons import WardroundError
from wardround.records.run_lines import ScoreLine
from wardround.records.scores import Scores
from wardround.records.study import Study
from wardround.records.study_sections import Algorithm
from wardround.site.arm_progress import ArmStart, ProgressFile
from wardround.site.arm_rounds import Arm, Emit, train_rounds
from wardround.site.case_store import write_case_scores
from wardround.site.config import SiteConfig
from wardround.site.open_site import OpenSite
from wardround.site.reference import NO_REFERENCE, score_reference

Opener = Callable[[Study, SiteConfig], OpenSite]


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
        pauses: where and when training may be paused. There each round is kept once it is done, so that a later call
            with the same study, run and data goes on from it, on a CPU to the same bits, whatever ended the one before.

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
    kept = None
    if pauses is not None:
        start = ArmStart(
            study_digest=alike.digest(),
            arm=arm.name,
            cases_sha256=data.cases_sha256,
            weights_sha256=weights_sha256(shared),
        )
        kept = ProgressFile(pauses.folder, start)
    chosen = train_rounds(learner, arm, shared, judges, emit, pauses=pauses, kept=kept)
    fill_network(learner.network, chosen.entries)
    checkpoint = make_checkpoint(
        chosen.entries, alike, model_round=chosen.model_round, workload=workload, notes=chosen.notes
    )
    save_checkpoint(out / "models" / arm.name.replace(":", "-"), checkpoint)
    for config in configs:
        scores = opened[config.name].data.score(learner.network, "test", detail=True)
        _tell(arm.name, config, scores, run, emit, model_round=chosen.model_round, notes=chosen.notes)
    if kept:
        kept.remove()
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


def _without_federation(study: Study, arm: Arm) -> Study:
    """The same study for one learner: as many steps a round as all of the arm's sites make together."""
    training = study.training
    if training.local_steps is not None:  # an epoch of pooled data is already every site's
        training = changed(training, local_steps=training.local_steps * len(arm.sites))
    return changed(study, algorithm=Algorithm(), training=training)
