"""Who takes part: the `prepare` task, before any weights are sent."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nvflare.app_common.abstract.fl_model import FLModel
from pydantic import ValidationError
from torch import Tensor

from wardround.aggregation.gate import Entry, dtype_name
from wardround.flare import messages
from wardround.flare.prepare_check import check_manifests, check_quorum, is_of_this_study, refuse_other_contracts
from wardround.learners.initial import with_statistics
from wardround.records.changed import changed
from wardround.records.orders import Reply
from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import Study, check_key_metric
from wardround.records.update import SiteManifest
from wardround.workloads.registry import make_workload
from wardround.workloads.words import words_of

if TYPE_CHECKING:
    from wardround.flare.controller import RoundController


@dataclass(frozen=True)
class Enrolled:
    """The sites that answered `prepare` as they must."""

    manifests: dict[str, SiteManifest]
    missing: dict[str, str]

    @property
    def roles(self) -> dict[str, str]:
        """Site to `train` or `evaluate`."""
        return {site: manifest.role for site, manifest in sorted(self.manifests.items())}

    @property
    def train_sites(self) -> list[str]:
        """The sites that train, every one of them in every round."""
        return [site for site, role in self.roles.items() if role == "train"]

    @property
    def patients(self) -> dict[str, int]:
        """Training patients as declared: the default weights."""
        return {site: self.manifests[site].counts.get("train_patients", 0) for site in self.train_sites}


def enrol(controller: "RoundController", shared: dict[str, Tensor], *, first_round: int = 0) -> Enrolled:
    """Asks every expected site to prepare, and checks that the answers fit together.

    Args:
        controller: knows the study, and which sites are expected.
        shared: the entries that the sites must share.
        first_round: that the sites can be part of; see `Order`.

    Raises:
        WardroundError: one line that names the site and the difference, or too few training sites.
    """
    study = controller.study
    workload = make_workload(study)
    check_key_metric(study, workload.metric_names(), "the workload", last=workload.last_metric_names())
    manifests: dict[str, SiteManifest] = {}
    missing: dict[str, str] = {}

    def receive(answer: FLModel) -> None:
        site, reply = read_manifest(answer, study)
        if reply.manifest is None:
            missing[site] = reply.error or Reason.REPLY_INVALID
            raise WardroundError(Reason(missing[site]), f"{site}: could not prepare")
        manifests[site] = reply.manifest

    connected = controller.connected()
    expected = set(controller.expected_sites or connected) - set(controller.left_out)
    missing |= dict.fromkeys(expected - set(connected), Reason.ABSENT)
    late = controller.exchange.ask(
        messages.PREPARE,
        controller.order(first_round, 0),
        sorted(expected & set(connected)),
        receive,
        deadline=study.federation.prepare_deadline_seconds,
    )
    missing |= dict.fromkeys(late, Reason.LATE) | controller.exchange.lost
    refuse_other_contracts(missing)
    verify(manifests, study, shared)
    enrolled = Enrolled(manifests, missing)
    check_quorum({site: manifests[site] for site in enrolled.train_sites}, study, missing)
    return enrolled


def first_model(study: Study, enrolled: Enrolled, shared: dict[str, Tensor]) -> dict[str, Tensor]:
    """The initial global model with what follows from the training sites' sums, such as a shared mean and scale.

    Sums count of those that were there in `prepare`: whoever joins later learns with the mean and scale of the others,
    since entries that are part of every model so far cannot change under it.
    """
    manifests = (enrolled.manifests[site] for site in enrolled.train_sites)  # in sorted order, so that a run repeats
    return with_statistics(shared, make_workload(study), [t for manifest in manifests for t in manifest.statistics])


def read_manifest(answer: FLModel, study: Study) -> tuple[str, Reply]:
    """Who answered, by the certificate's name, and with what.

    An answer that is no reply, or that tells of another study's release, becomes a coded one.
    """
    site = str((answer.meta or {}).get("client_name"))
    try:
        reply = Reply.model_validate((answer.meta or {}).get(messages.KEY))
    except ValidationError:
        return site, Reply(error=Reason.REPLY_INVALID)
    if reply.manifest is None:
        return site, reply
    look = reply.manifest.monitoring
    if look is not None and not is_of_this_study(look, study, words_of(study.workload)):
        return site, Reply(error=Reason.REPLY_INVALID)
    return site, changed(reply, manifest=changed(reply.manifest, site=site))


def verify(manifests: dict[str, SiteManifest], study: Study, shared: dict[str, Tensor]) -> None:
    """Compares manifests with the server's study, contract and model; see `check_manifests`."""
    names: dict[str, list[str | int]] = {name: [dtype, *shape] for name, (dtype, shape) in entries(shared).items()}
    check_manifests(manifests, study, workload=make_workload(study), shared=names)


def entries(shared: dict[str, Tensor]) -> dict[str, Entry]:
    """Name to dtype and shape, as manifests write them."""
    return {name: (dtype_name(value), tuple(value.shape)) for name, value in shared.items()}
