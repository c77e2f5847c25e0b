"""What must agree before round 1. Each fault names the site and the difference in one line."""

from collections.abc import Mapping, Sequence

from wardround.records.reasons import Reason, WardroundError
from wardround.records.shared_monitoring import SharedMonitoring
from wardround.records.study import Study, check_key_metric
from wardround.records.update import SiteManifest
from wardround.workloads.input_cells import check_input_tallies
from wardround.workloads.words import Words
from wardround.workloads.workload import Workload

Names = Mapping[str, Sequence[str | int]]


_WITHOUT_CONSENT = {Reason.CONSENT_MISSING, Reason.CONSENT_CHANGED, Reason.CONSENT_REVOKED}
_CONSENT = "; a hospital's own people agree to this study as it is now with `wardround site approve`"


def check_manifests(manifests: Mapping[str, SiteManifest], study: Study, *, workload: Workload, shared: Names) -> None:
    """Compares every site's answer to `prepare` with the server's own study, contract and model.

    What the answer holds besides, sums for the initial model, must be what training cases can have.

    Args:
        manifests: answers by site name, the name as the server knows it.
        study: the server's study.
        workload: the server's; computes the data contract's hash and knows the sums.
        shared: the global model's entries, name to [dtype, *shape].

    Raises:
        WardroundError: the first fault, by site name in sorted order.
    """
    contract_digest = workload.contract_digest()
    for site, manifest in sorted(manifests.items()):
        _same(site, "study", manifest.study_digest, study.digest())
        _same(site, "data contract", manifest.contract_digest, contract_digest)
        _entries(site, manifest.shared, shared)
        check_key_metric(study, manifest.metric_names, site)
        _statistics(site, manifest, workload)


def is_of_this_study(look: SharedMonitoring, study: Study, words: Words) -> bool:
    """Whether a site's look at a released model can be of this study: its name, and names of figures that it has."""
    return look.study == study.name and all(criterion.metric in words.figures for criterion in look.criteria)


def refuse_other_contracts(missing: Mapping[str, str]) -> None:
    """Ends the run where a site holds the study's data contract to be another than the one that it agreed to.

    Any other failure leaves a site out; this one says that the hospitals do not mean the same by their columns or
    images, and only people can settle that.

    Args:
        missing: sites that did not answer, or failed, with the reason.
    """
    for site, reason in sorted(missing.items()):
        if reason == Reason.CONTRACT_MISMATCH:
            raise WardroundError(
                Reason.CONTRACT_MISMATCH,
                f"{site}: its data contract differs from the study's; the site's own log says where: agree on one "
                "contract, or run without this site",
            )


def check_quorum(train_sites: Mapping[str, SiteManifest], study: Study, missing: Mapping[str, str]) -> None:
    """Refuses to start with fewer training sites than the quorum.

    Args:
        train_sites: sites with role `train` that answered.
        missing: sites that did not answer, or failed, with the reason.
    """
    quorum = study.federation.quorum
    if len(train_sites) < quorum:
        absent = "; ".join(f"{site}: {reason}" for site, reason in sorted(missing.items())) or "none failed"
        raise WardroundError(
            Reason.QUORUM_NOT_MET,
            f"prepare: {len(train_sites)} training sites, federation.quorum is {quorum} ({absent})"
            + (_CONSENT if set(missing.values()) & _WITHOUT_CONSENT else ""),
        )


def _same(site: str, what: str, found: str, expected: str) -> None:
    if found != expected:
        raise WardroundError(
            Reason.CONTRACT_MISMATCH,
            f"{site}: its {what} has the hash {found[:12]}, the server's is {expected[:12]}; "
            "the installed wardround versions or the job's files differ",
        )


def _entries(site: str, found: Names, expected: Names) -> None:
    missing, unknown = sorted(set(expected) - set(found)), sorted(set(found) - set(expected))
    if missing or unknown:
        raise WardroundError(
            Reason.NAMES_MISMATCH,
            f"{site}: its network lacks {_some(missing)} and has {_some(unknown)} beside the global model",
        )
    for name in sorted(expected):
        if list(found[name]) != list(expected[name]):
            raise WardroundError(
                Reason.SHAPE_MISMATCH,
                f"{site}: {name} is {list(found[name])}, the global model's is {list(expected[name])}",
            )


def _statistics(site: str, manifest: SiteManifest, workload: Workload) -> None:
    if manifest.role != "train" and (sums := [*manifest.statistics, *manifest.inputs]):
        raise WardroundError(Reason.COUNT_INVALID, f"{site}: sends sums, among them {sums[0].name}, but does not train")
    try:
        workload.check_statistics(manifest.statistics, manifest.counts)
        check_input_tallies(manifest.inputs, manifest.counts, workload.input_columns())
    except WardroundError as error:
        raise WardroundError(error.code, f"{site}: {error}") from None


def _some(names: list[str], limit: int = 3) -> str:
    if not names:
        return "nothing"
    rest = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + rest
