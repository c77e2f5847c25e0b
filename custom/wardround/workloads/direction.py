"""Whether a study looks for the higher or the lower value of its key metric, as the metric's meaning has it."""

import importlib
from importlib.util import find_spec

from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import Study
from wardround.workloads.vocabulary import Family, Vocabulary


def check_direction(study: Study) -> None:
    """Refuses a `key_metric_mode` that would choose the worst round for the best, and print worse as better.

    A metric that the workload's vocabulary does not know may go either way.

    Raises:
        WardroundError: with the mode that the metric needs.
    """
    name, mode = study.evaluation.key_metric, study.evaluation.key_metric_mode
    family = _family(name, study.workload["kind"])
    if family is None or family.higher_is_better == (mode == "max"):
        return
    better, needed = ("higher", "max") if family.higher_is_better else ("lower", "min")
    raise WardroundError(
        Reason.CONFIGURATION_INVALID,
        f"evaluation.key_metric_mode: {mode} (the default is max) would choose the worst round by {name}, of which "
        f"{better} is better; write key_metric_mode: {needed}",
    )


def _family(name: str, kind: str) -> Family | None:
    """The family with the longest key that is the name or begins it: `brier_skill` is no `brier`."""
    package = f"wardround.workloads.{kind}"
    module = f"{package}.vocabulary"
    if find_spec(package) is None or find_spec(module) is None:
        return None
    vocabulary: Vocabulary = importlib.import_module(module).VOCABULARY
    fits = [family for family in vocabulary.families if name == family.key or name.startswith(f"{family.key}_")]
    return max(fits, key=lambda family: len(family.key), default=None)
