"""Which workloads are installed, and one of them from a study's settings."""

import importlib
import pkgutil
from collections.abc import Mapping
from typing import Any

from wardround import workloads
from wardround.records.acceptance import check_acceptance
from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import Study
from wardround.workloads.direction import check_direction
from wardround.workloads.possible import check_possible
from wardround.workloads.workload import Workload


def kinds() -> list[str]:
    """Names of the workloads that are installed."""
    return sorted(module.name for module in pkgutil.iter_modules(workloads.__path__) if module.ispkg)


def make_workload(study: Study) -> Workload:
    """Builds the study's workload; see `workload_of`.

    Raises:
        WardroundError: also where `key_metric_mode` is the wrong one for the key metric, or an acceptance criterion is
            about a figure that the workload does not report, or asks for a value that the figure cannot have.
    """
    workload = workload_of(study.workload)
    reported = (*workload.metric_names(), *workload.last_metric_names())
    check_acceptance(study.acceptance, reported, workload.compared_names())
    check_possible(study)
    if study.evaluation.key_metric in workload.metric_names():  # another one is refused by check_key_metric, as such
        check_direction(study)
    return workload


def workload_of(settings: Mapping[str, Any]) -> Workload:
    """Builds a workload from a `workload` section, as job.yaml has it and a checkpoint keeps it.

    Raises:
        WardroundError: the kind is not installed, needs a missing package, or its settings are invalid.
    """
    settings = dict(settings)
    kind = settings.pop("kind")
    if kind not in kinds():
        raise WardroundError(
            Reason.CONFIGURATION_INVALID, f"workload.kind: {kind!r} is not installed; installed: {', '.join(kinds())}"
        )
    try:
        module = importlib.import_module(f"wardround.workloads.{kind}.workload")
    except ModuleNotFoundError as error:
        raise WardroundError(
            Reason.MODULE_MISSING, f"workload {kind} needs the package {error.name}; install wardround with its extra"
        ) from error
    workload: Workload = module.make(settings)
    return workload
