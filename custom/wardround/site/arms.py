"""The models that a hospital makes of the federation's for itself, and the simple one beside it."""

from torch import nn

from wardround.learners.learner import Learner
from wardround.records.arms import PERSONALISED, RECALIBRATED
from wardround.records.metric_record import undefined
from wardround.records.scores import Scores
from wardround.records.study import Study
from wardround.workloads.workload import SiteData, Workload

NO_REFERENCE = "no_reference_model"


def own_model(learner: Learner, study: Study, arm: str) -> nn.Module:
    """What the learner has loaded, turned into the site's own.

    `personalised` is fine-tuned in place where that helps. `recalibrated` is what the site has after that, with its
    probabilities corrected where that helps; it is returned, and the learner's network stays as it is. Any other arm
    is the model as loaded.
    """
    steps = study.evaluation.personalise_steps
    if arm in (PERSONALISED, RECALIBRATED) and steps:
        learner.personalise(steps)
    if arm == RECALIBRATED:
        return learner.recalibrate()
    return learner.network


def score_reference(workload: Workload, data: SiteData, reference: nn.Module | None, split: str) -> Scores:
    """Scores the workload's simple model in detail; without one, every figure is undefined and there are no cases.

    Args:
        workload: names the figures.
        data: of the site where it is scored.
        reference: what `Workload.reference` gave.
        split: `test`.
    """
    if reference is not None:
        return data.score(reference, split, detail=True)
    names = dict.fromkeys((*workload.metric_names(), *workload.last_metric_names()))
    return Scores(split=split, records=[undefined(name, NO_REFERENCE) for name in names])
