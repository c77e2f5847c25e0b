"""What may be handed on of a look at a released model: counts by flag, once its figures have passed the gate."""

from typing import get_args

from wardround.records.metric_record import Status
from wardround.records.monitoring import Monitoring, SharedMonitoring, Shift
from wardround.records.orders import Reply
from wardround.records.reasons import Reason, WardroundError
from wardround.site.config import SiteConfig
from wardround.site.gate import guard
from wardround.workloads.words import Words


def guard_monitoring(found: Monitoring, config: SiteConfig, words: Words) -> SharedMonitoring:
    """Counts by flag, and whether the model is fit.

    A criterion whose figure the gate holds back is counted as such: whether it is met would tell of the figure. No
    figure, no name of an input and no share leaves.

    Args:
        found: the look.
        config: whose `disclosure` decides.
        words: of the release's study.

    Raises:
        WardroundError: fewer patients stand behind it than the site lets any figure rest on.
    """
    rules = config.disclosure
    if found.patients < rules.minimum_patients:
        raise WardroundError(
            Reason.TOO_FEW_PATIENTS,
            f"--share: {found.patients} patients, and disclosure.minimum_patients of site.yaml is "
            f"{rules.minimum_patients}: nothing may be handed on of so few",
        )
    passed = guard(Reply(records=found.figures), rules, words).reply.records
    told = {record.name for record in passed if record.status is not Status.SUPPRESSED}
    held = [criterion for criterion in found.criteria if criterion.metric not in told]
    met = [criterion.met for criterion in found.criteria if criterion not in held]
    return SharedMonitoring(
        site=found.site,
        study=found.study,
        version=found.version,
        time=found.time,
        fit=None if held else found.fit,
        cases=rules.stepped(found.cases),
        flags={
            "criterion_met": sum(met),
            "criterion_not_met": len(met) - sum(met),
            "criterion_suppressed": len(held),
            **{f"input_{shift}": sum(one.judged == shift for one in found.inputs) for shift in get_args(Shift)},
        },
    )
