"""What a site says of itself in `prepare`."""

from collections.abc import Sequence

from wardround.learners.sharing import Entries
from wardround.records.code import code_facts
from wardround.records.declared import NOTHING_DECLARED, DeclaredData
from wardround.records.inspection import Severity
from wardround.records.scores import Tally
from wardround.records.study import Study
from wardround.records.update import Nature, Role, SiteManifest
from wardround.records.versions import package_versions
from wardround.workloads.site_data import SiteData
from wardround.workloads.workload import Workload


def make_manifest(
    workload: Workload,
    data: SiteData,
    study: Study,
    entries: Entries,
    *,
    site: str,
    role: Role,
    nature: Nature = "hospital",
    declared: DeclaredData = NOTHING_DECLARED,
    statistics: Sequence[Tally] = (),
    inputs: Sequence[Tally] = (),
) -> SiteManifest:
    """Counts, names, shapes and digests; shared entries cross as float32 whatever the network's own type.

    Args:
        declared: what the site's admin says of its data.
        statistics: the data's sums that the initial model needs.
        inputs: counts of training inputs by cell.
    """
    findings = data.findings
    return SiteManifest(
        site=site,
        role=role,
        counts=data.counts,
        metric_names=workload.metric_names(),
        shared={name: ["float32", *tensor.shape] for name, tensor in entries.shared.items()},
        kept_local=entries.kept_names,
        contract_digest=workload.contract_digest(),
        study_digest=study.digest(),
        problems=findings.count_by_kind(Severity.WARNING),
        doubts=findings.doubts_by_kind(),
        versions=package_versions(),
        statistics=list(statistics),
        inputs=list(inputs),
        suppressed=data.suppressed_counts,
        nature=nature,
        declared=declared,
        code=code_facts(),
    )
