"""The learner that a study asks for."""

from wardround.learners.fedbn import FedBNLearner, FedProxFedBNLearner
from wardround.learners.fedprox import FedProxLearner
from wardround.learners.learner import Learner
from wardround.learners.local_head import LocalHeadLearner
from wardround.learners.local_state import KeptEntries
from wardround.records.study import Study
from wardround.workloads.site_data import SiteData
from wardround.workloads.workload import Workload

LEARNERS: dict[str, type[Learner]] = {
    "fedavg": Learner,
    "fedprox": FedProxLearner,
    "fedbn": FedBNLearner,
    "fedprox_fedbn": FedProxFedBNLearner,
    "local_head": LocalHeadLearner,
}


def make_learner(
    workload: Workload,
    data: SiteData,
    study: Study,
    *,
    site: str,
    run: str,
    state: KeptEntries | None = None,
    device: str = "cpu",
) -> Learner:
    """Builds the class for `algorithm.kind`."""
    return LEARNERS[study.algorithm.kind](workload, data, study, site=site, run=run, state=state, device=device)
