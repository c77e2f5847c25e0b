"""A network's entries as they come and go: what is received, what a round changed, what stays."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from wardround.learners.sharing import Sharing, split_entries
from wardround.records.reasons import Reason, WardroundError


class LiveEntries:
    """Holds a network's live tensors by what happens to them, and the values of the last `place`.

    Args:
        network: on its device already, since its tensors are held.
        sharing: what stays.
    """

    def __init__(self, network: nn.Module, sharing: Sharing) -> None:
        self.entries = split_entries(network, sharing)
        self.own: dict[str, Tensor] = {**self.entries.kept, **self.entries.rest}
        self.received: dict[str, Tensor] = {}
        self._initial_own = _clones(self.own)

    @torch.no_grad()
    def place(self, shared: Mapping[str, Tensor], own: Mapping[str, Tensor] | None) -> None:
        """Copies shared entries and the site's own into the network; own entries that are not given start afresh.

        Raises:
            WardroundError: names or shapes of `shared` are not the network's.
        """
        _refuse_unlike(shared, self.entries.shared)
        for name, tensor in self.entries.shared.items():
            tensor.copy_(shared[name])
        for name, tensor in self.own.items():
            tensor.copy_(own[name] if own and name in own else self._initial_own[name])
        self.received = _clones(self.entries.shared)

    def trainable(self) -> tuple[list[Tensor], list[Tensor]]:
        """Shared parameters that train, and their received values."""
        names = self.trainable_names()
        return [self.entries.shared[name] for name in names], [self.received[name] for name in names]

    def trainable_names(self) -> list[str]:
        """Names of shared parameters that are not frozen; buffers are none."""
        return [name for name, tensor in self.entries.shared.items() if tensor.requires_grad]

    @torch.no_grad()
    def difference(self) -> dict[str, Tensor]:
        """Present minus received, CPU float32.

        Raises:
            WardroundError: an entry is not finite: what a last step blew up does not leave.
        """
        names = list(self.entries.shared)
        change = torch._foreach_sub([self.entries.shared[n] for n in names], [self.received[n] for n in names])
        difference = {name: tensor.float().cpu() for name, tensor in zip(names, change, strict=True)}
        bad = [name for name, tensor in difference.items() if not bool(torch.isfinite(tensor).all())]
        if bad:
            raise WardroundError(
                Reason.LOSS_NOT_FINITE,
                f"training: {len(bad)} entries are not finite after the round, such as {bad[0]}; "
                "lower training.learning_rate or set training.clip_norm",
            )
        return difference

    def shared_copies(self) -> dict[str, Tensor]:
        """CPU float32 copies of what would cross now."""
        return {name: tensor.detach().cpu().float().clone() for name, tensor in self.entries.shared.items()}

    def own_copies(self) -> dict[str, Tensor]:
        """CPU copies of the rest: kept entries and counters."""
        return {name: tensor.detach().cpu().clone() for name, tensor in self.own.items()}


def _clones(entries: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.detach().clone() for name, tensor in entries.items()}


def _refuse_unlike(shared: Mapping[str, Tensor], entries: Mapping[str, Tensor]) -> None:
    missing, unknown = sorted(entries.keys() - shared.keys()), sorted(shared.keys() - entries.keys())
    if missing or unknown:
        raise WardroundError(
            Reason.NAMES_MISMATCH,
            f"received model: {len(missing)} entries are missing {missing[:3]} and {len(unknown)} are unknown "
            f"{unknown[:3]}; the server's study has another network or algorithm",
        )
    for name, tensor in entries.items():
        if shared[name].shape != tensor.shape:
            raise WardroundError(
                Reason.SHAPE_MISMATCH,
                f"received model: {name} has shape {list(shared[name].shape)}, this network {list(tensor.shape)}",
            )
