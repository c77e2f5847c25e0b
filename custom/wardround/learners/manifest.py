"""What a site says of itself in `prepare`."""

from collections import Counter
from importlib import metadata

from wardround.learners.sharing import Entries
from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import Study
from wardround.records.update import Role, SiteManifest
from wardround.workloads.workload import SiteData, Workload


def make_manifest(
    workload: Workload, data: SiteData, study: Study, entries: Entries, *, site: str, role: Role
) -> SiteManifest:
    """Counts, names, shapes and digests; shared entries cross as float32 whatever the network's own type."""
    return SiteManifest(
        site=site,
        role=role,
        counts=data.counts,
        metric_names=workload.metric_names(),
        shared={name: ["float32", *tensor.shape] for name, tensor in entries.shared.items()},
        kept_local=entries.kept_names,
        contract_digest=workload.contract_digest(),
        study_digest=study.digest(),
        problems=dict(Counter(str(problem.code) for problem in data.problems)),
        versions=_versions(),
    )


def refuse_unknown_metric(study: Study, workload: Workload) -> None:
    """F3: the figure that chooses the best model must be one that sites report, and that is known before round 1.

    Raises:
        WardroundError: with the names that there are.
    """
    if study.evaluation.key_metric not in workload.metric_names():
        raise WardroundError(
            Reason.METRIC_UNKNOWN,
            f"evaluation.key_metric: {study.evaluation.key_metric!r} is not reported; "
            f"the workload reports {', '.join(workload.metric_names())}",
        )


def _versions() -> dict[str, str]:
    found = {}
    for package in ("wardround", "torch", "monai", "nvflare"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
