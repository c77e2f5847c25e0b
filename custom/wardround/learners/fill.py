"""Tensors into a network, and out of it."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from wardround.learners.sharing import ShareAll, split_entries
from wardround.records.reasons import Reason, WardroundError


@torch.no_grad()
def fill_network(network: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Copies a complete checkpoint's tensors into a network of its architecture. Counters may be missing.

    Raises:
        WardroundError: names or shapes differ.
    """
    state = network.state_dict()
    given = {state[name].data_ptr() for name in tensors if name in state}
    lacking = [n for n, t in state.items() if n not in tensors and t.is_floating_point() and t.data_ptr() not in given]
    unknown = sorted(tensors.keys() - state.keys())
    if lacking or unknown:
        raise WardroundError(
            Reason.NAMES_MISMATCH,
            f"checkpoint: {len(lacking)} entries are missing {lacking[:3]} and {len(unknown)} unknown {unknown[:3]}; "
            "it is of another architecture, or lacks a site's entries",
        )
    for name, tensor in tensors.items():
        if state[name].shape != tensor.shape:
            raise WardroundError(
                Reason.SHAPE_MISMATCH,
                f"checkpoint: {name} has shape {list(tensor.shape)}, the network {list(state[name].shape)}",
            )
        state[name].copy_(tensor)


def all_entries(network: nn.Module) -> dict[str, Tensor]:
    """CPU copies of everything in a network, each storage once."""
    entries = split_entries(network, ShareAll())
    return {name: t.detach().cpu().clone() for name, t in {**entries.shared, **entries.rest}.items()}
