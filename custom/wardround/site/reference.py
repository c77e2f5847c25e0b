"""The workload's simple model, scored like the others."""

from torch import nn

from wardround.records.metric_record import undefined
from wardround.records.scores import Scores
from wardround.workloads.site_data import SiteData
from wardround.workloads.workload import Workload

NO_REFERENCE = "no_reference_model"


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
