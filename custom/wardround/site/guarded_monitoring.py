"""Which part of a look at a released model may leave a site: counts, once enough patients stand behind them."""

from wardround.records.changed import changed
from wardround.records.disclosure import Disclosure
from wardround.records.shared_monitoring import NAME, SharedCriterion, SharedMonitoring
from wardround.site.guarded import Guarded
from wardround.workloads.words import Words


def guard_monitoring(look: SharedMonitoring, rules: Disclosure, words: Words) -> Guarded[SharedMonitoring | None]:
    """Bands the counts, and tells of a criterion only where its figure and that figure's interval might leave.

    A criterion whose figure is held back is told as that alone: whether it is met would tell of the figure. It is the
    interval's worse end that meets a criterion or not, and of fewer patients than `minimum_cell` that end is a single
    one's. Of fewer patients than `minimum_patients` nothing is told.

    Args:
        look: with the patients behind each figure.
        rules: of the site's own site.yaml, as they are now.
        words: of the study.
    """
    if look.patients < rules.minimum_patients:
        return Guarded(None, suppressed=[NAME])
    known = [criterion for criterion in look.criteria if criterion.metric in words.figures]
    told = changed(
        look,
        patients=rules.stepped(look.patients),
        cases=rules.stepped(look.cases),
        criteria=[_criterion(criterion, rules) for criterion in known],
    )
    return Guarded(told, unlisted=[criterion.metric for criterion in look.criteria if criterion not in known])


def _criterion(criterion: SharedCriterion, rules: Disclosure) -> SharedCriterion:
    held = criterion.support is None or criterion.support < rules.minimum_cell
    met = None if held or not rules.allows(criterion.metric) else criterion.met
    return SharedCriterion(metric=criterion.metric, met=met)
