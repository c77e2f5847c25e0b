"""Whether a study looks for the higher or the lower value of its key metric, as the metric's meaning has it."""

from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import Study
from wardround.workloads.families import family_of


def check_direction(study: Study) -> None:
    """Refuses a `key_metric_mode` that would choose the worst round for the best, and print worse as better.

    A metric that the workload's vocabulary does not know may go either way.

    Raises:
        WardroundError: with the mode that the metric needs.
    """
    name, mode = study.evaluation.key_metric, study.evaluation.key_metric_mode
    family = family_of(name, study.workload["kind"])
    if family is None or family.higher_is_better == (mode == "max"):
        return
    better, needed = ("higher", "max") if family.higher_is_better else ("lower", "min")
    raise WardroundError(
        Reason.CONFIGURATION_INVALID,
        f"evaluation.key_metric_mode: {mode} (the default is max) would choose the worst round by {name}, of which "
        f"{better} is better; write key_metric_mode: {needed}",
    )
