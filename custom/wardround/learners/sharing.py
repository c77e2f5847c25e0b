"""Which entries of a network leave the site."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from wardround.records.reasons import Reason, WardroundError
from wardround.records.study_sections import Algorithm
from wardround.workloads.workload import Workload

RUNNING_STATISTICS = frozenset({"running_mean", "running_var", "num_batches_tracked"})


class Sharing(Protocol):
    """Chooses the entries that stay."""

    def kept(self, network: nn.Module) -> tuple[str, ...]:
        """Names in `network.state_dict()` that never leave the site."""


class ShareAll:
    """Every floating-point entry leaves."""

    def kept(self, network: nn.Module) -> tuple[str, ...]:  # noqa: ARG002 - the protocol's argument
        """None."""
        return ()


@dataclass(frozen=True)
class KeepBatchNorm:
    """FedBN (Li et al., ICLR 2021): BatchNorm layers stay, whole or (SiloBN, Andreux et al., 2020) their statistics.

    Layers are found by type, subclasses and SyncBatchNorm included, under every name that they have in the network:
    MONAI calls them `adn.N`, and DynUNet registers a block twice. InstanceNorm and GroupNorm keep no statistics of
    the site's data by default, and are shared.

    Raises:
        WardroundError: nothing would stay.
    """

    statistics_only: bool = False

    def kept(self, network: nn.Module) -> tuple[str, ...]:
        """The layers' entries, or only running mean, variance and batch counter, in the state's order."""
        chosen = {
            f"{prefix}.{name}" if prefix else name
            for prefix, module in network.named_modules(remove_duplicate=False)
            if isinstance(module, _BatchNorm)
            for name in module.state_dict()
            if not self.statistics_only or name in RUNNING_STATISTICS
        }
        if not chosen:
            what = "running statistics of BatchNorm layers" if self.statistics_only else "BatchNorm entries"
            raise WardroundError(
                Reason.NOTHING_KEPT_LOCAL,
                f"algorithm.keep_local: the network has no {what}, so nothing would stay at the site; "
                "use a network with norm: batch, or an algorithm.kind without fedbn",
            )
        return tuple(name for name in network.state_dict() if name in chosen)


@dataclass(frozen=True)
class KeepHead:
    """FedPer (Arivazhagan et al., 2019): the last layer stays.

    Args:
        head: gives its names in a network's state, see `Workload.head`.

    Raises:
        WardroundError: nothing would stay, or nothing would be shared.
    """

    head: Callable[[nn.Module], tuple[str, ...]]

    def kept(self, network: nn.Module) -> tuple[str, ...]:
        """The head's entries, in the state's order."""
        chosen, state = set(self.head(network)), network.state_dict()
        if not chosen or not chosen < state.keys():
            unknown = ", ".join(sorted(chosen - state.keys())[:3])
            found = f"names that it does not have ({unknown})" if unknown else f"{len(chosen)} of {len(state)} entries"
            raise WardroundError(
                Reason.NOTHING_KEPT_LOCAL,
                f"algorithm.kind local_head: the network's head is {found}; a head and layers before it are needed",
            )
        return tuple(name for name in state if name in chosen)


def sharing_of(algorithm: Algorithm, workload: Workload) -> Sharing:
    """The study's choice."""
    if algorithm.keeps_batchnorm:
        return KeepBatchNorm(statistics_only=algorithm.keep_local == "silobn")
    if algorithm.kind == "local_head":
        return KeepHead(workload.head)
    return ShareAll()


def initial_shared(network: nn.Module, sharing: Sharing) -> dict[str, Tensor]:
    """Copies of a fresh network's shared entries."""
    shared = split_entries(network, sharing).shared
    return {name: tensor.detach().cpu().float().clone() for name, tensor in shared.items()}


@dataclass(frozen=True)
class Entries:
    """A network's live tensors by what happens to them; each storage once, under its first name.

    Args:
        shared: floating-point entries that cross.
        kept: entries that stay by choice, counters included.
        rest: counters and other integer entries outside `kept`: neither shared nor worth keeping.
        kept_names: all names of `kept`, aliases included.
    """

    shared: dict[str, Tensor]
    kept: dict[str, Tensor]
    rest: dict[str, Tensor]
    kept_names: tuple[str, ...]


def split_entries(network: nn.Module, sharing: Sharing) -> Entries:
    """Sorts a network's entries. An entry whose storage is kept under any name is not shared under another."""
    state = network.state_dict(keep_vars=True)  # the tensors themselves, so that aliases can be told
    kept_names = sharing.kept(network)
    kept = _once({name: state[name] for name in kept_names})
    staying = {id(tensor) for tensor in kept.values()}
    others = _once({name: tensor for name, tensor in state.items() if id(tensor) not in staying})
    shared = {name: tensor for name, tensor in others.items() if tensor.is_floating_point()}
    rest = {name: tensor for name, tensor in others.items() if name not in shared}
    return Entries(shared, kept, rest, kept_names)


def _once(entries: dict[str, Tensor]) -> dict[str, Tensor]:
    first: dict[int, str] = {}
    for name, tensor in entries.items():
        first.setdefault(id(tensor), name)
    return {name: entries[name] for name in first.values()}
