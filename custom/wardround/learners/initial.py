"""Where a study starts from: a fresh network's shared entries, those that follow from the sites' sums put in."""

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn

from wardround.learners.sharing import initial_shared, sharing_of
from wardround.metrics.pooling import pool
from wardround.records.reasons import Reason, WardroundError
from wardround.records.scores import Tally
from wardround.records.study import Study
from wardround.workloads.workload import Workload


def initial_network(workload: Workload, study: Study) -> nn.Module:
    """The study's initial network: the same values at the server and at every site."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(study.seed)
        return workload.network()


def initial_shared_entries(workload: Workload, study: Study, statistics: Iterable[Tally] = ()) -> dict[str, Tensor]:
    """The first global model.

    Args:
        workload: what is learned.
        study: its seed decides the fresh network, its algorithm what is shared.
        statistics: `SiteData.statistics` of every site that trains, sites in sorted order.

    Returns:
        CPU float32 copies, by name.

    Raises:
        WardroundError: as `with_statistics`.
    """
    shared = initial_shared(initial_network(workload, study), sharing_of(study.algorithm, workload))
    return with_statistics(shared, workload, statistics)


def with_statistics(shared: Mapping[str, Tensor], workload: Workload, statistics: Iterable[Tally]) -> dict[str, Tensor]:
    """Shared entries with those replaced that follow from sums over the training sites, such as a mean and a scale.

    They are constants of the network's (buffers), so updates leave them as they are, and every model that the sites
    receive, and every checkpoint, holds them.

    Raises:
        WardroundError: sums of one name do not fit together, or give entries of another name, shape or without a
            finite value.
    """
    try:
        entries = workload.initial_entries(pool(statistics))
    except (ValueError, KeyError, ArithmeticError) as error:  # sums come from other machines, and may be anything
        raise WardroundError(
            Reason.REPLY_INVALID,
            f"statistics: the sites' sums make no initial model ({type(error).__name__}: {error}); look at them in the "
            "record's first line, and at the sites' wardround versions",
        ) from None
    for name, tensor in sorted(entries.items()):
        _refuse_unfit(name, tensor, shared)
    fresh = {name: tensor.detach().cpu().float().clone() for name, tensor in entries.items()}
    return {name: fresh.get(name, tensor) for name, tensor in shared.items()}


def _refuse_unfit(name: str, tensor: Tensor, shared: Mapping[str, Tensor]) -> None:
    if name not in shared:
        raise WardroundError(
            Reason.NAMES_MISMATCH,
            f"initial model: {name} follows from the sites' sums, but is no entry that this algorithm shares",
        )
    if tensor.shape != shared[name].shape:
        raise WardroundError(
            Reason.SHAPE_MISMATCH,
            f"initial model: {name} from the sites' sums has shape {list(tensor.shape)}, "
            f"the network's {list(shared[name].shape)}",
        )
    if not bool(tensor.isfinite().all()):
        raise WardroundError(
            Reason.NOT_FINITE,
            f"initial model: {name} from the sites' sums is not finite; look at the sums in the record's first line",
        )
