"""What becomes of an arm's scores: an answer for the server, and what the hospital keeps to itself."""

import logging
from collections.abc import Sequence
from pathlib import Path

from wardround.learners.checkpoint import make_checkpoint, save_checkpoint
from wardround.learners.learner import Learner
from wardround.records.orders import Reply
from wardround.records.run_lines import ScoreLine
from wardround.records.scores import Scores
from wardround.records.study import Study
from wardround.site.case_store import write_case_scores

_log = logging.getLogger(__name__)


def scored(scores: Scores, notes: list[str]) -> Reply:
    """What may travel of scores: figures by cohort and alert tables of the test split alone."""
    final = scores.split == "test"
    return Reply(
        records=scores.records,
        tallies=scores.tallies,
        cohorts=scores.cohorts if final else [],
        alerts=scores.alerts if final else [],
        notes=notes,
        suppressed=scores.suppressed,
    )


def as_answer(line: ScoreLine) -> Reply:
    """What a site's own arm has as a line of a record, as an answer."""
    return Reply(
        records=line.records,
        tallies=line.tallies,
        cohorts=line.cohorts,
        alerts=line.alerts,
        notes=line.notes,
        suppressed=line.suppressed,
    )


def write_cases(folder: Path, arm: str, scores: Scores) -> None:
    """Keeps scores by case, for differences between arms; an arm without a model has none to compare."""
    if scores.cases:
        write_case_scores(folder, arm, scores)


def keep_model(
    file: Path, study: Study, learner: Learner, model_round: int, *, site: str, notes: Sequence[str]
) -> None:
    """The hospital's own copy of what was scored, its kept entries included: what it can predict with.

    Args:
        file: of the checkpoint, without its endings.
        study: of the model.
        learner: holds it.
        model_round: rounds of training behind it.
        site: whose.
        notes: of its scores.
    """
    tensors = {**learner.shared_entries(), **learner.own_entries()}
    checkpoint = make_checkpoint(
        tensors, study, model_round=model_round, workload=learner.workload, site=site, notes=tuple(notes)
    )
    save_checkpoint(file, checkpoint)


def draw_pictures(folder: Path, learner: Learner, split: str) -> None:
    """Pictures of patients, for this hospital's own eyes. One that cannot be drawn costs no scores."""
    try:
        learner.data.draw(learner.network, split, folder)
    except Exception:
        _log.exception("no picture")
