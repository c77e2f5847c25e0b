"""Whether criteria of a study ask for values that their figures can have."""

from math import inf

from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import Study
from wardround.workloads.families import family_of
from wardround.workloads.vocabulary import Family


def check_possible(study: Study) -> None:
    """Refuses a value of `acceptance.worst_site` that no data can give, such as a percentage in place of a share.

    Every model would meet it, or none, and either would be found out after the training. The ends of a range may be
    asked for, and `worse_than_alone` may be of any size: it is how a study says that it does not go by that.

    Raises:
        WardroundError: with the range of the figure.
    """
    for name, limit in study.acceptance.worst_site.items():
        family = family_of(name, study.workload["kind"])
        if family is None or family.lowest <= limit <= family.highest:
            continue
        share = limit / 100
        percent = f"; write {share:g} if {limit:g} % was meant" if family.highest == 1 and 0 <= share <= 1 else ""
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"acceptance.worst_site.{name}: expected {_range(family)}, as {family.title} can be, found "
            f"{limit:g}{percent or '; write a value in that range'}",
        )


def _range(family: Family) -> str:
    if family.lowest == -inf:
        return f"at most {family.highest:g}"
    return f"at least {family.lowest:g}" if family.highest == inf else f"{family.lowest:g} to {family.highest:g}"
