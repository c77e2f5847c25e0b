"""A checkpoint at work: one case predicted at a site."""

from pathlib import Path
from typing import Any

from torch import nn

from wardround.learners.checkpoint import Checkpoint
from wardround.learners.devices import usable_device
from wardround.learners.fill import fill_network
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.registry import workload_of
from wardround.workloads.workload import Workload


def network_of(checkpoint: Checkpoint, *, device: str = "cpu") -> tuple[Workload, nn.Module]:
    """The checkpoint's workload, and its network with the weights in it, in evaluation mode.

    Raises:
        WardroundError: the checkpoint lacks a site's own entries, or is of another architecture than its card says.
    """
    checkpoint.require_complete()
    chosen = usable_device(device)
    workload = workload_of(checkpoint.card.workload)
    network = workload.network()
    fill_network(network, checkpoint.tensors)
    return workload, network.to(chosen).eval()


def predict_file(
    checkpoint: Checkpoint,
    case: Path,
    file: Path,
    *,
    data: dict[str, Any],
    where: str = "",
    device: str = "cpu",
    overwrite: bool = False,
) -> dict[str, float]:
    """Predicts one case with a checkpoint and writes the result.

    Args:
        checkpoint: complete.
        case: what the workload reads as one case.
        file: what it writes.
        data: the workload's section of the site's site.yaml, paths in it absolute.
        where: the section's file and key, for messages; by default the workload's own key of site.yaml.
        device: cpu or cuda.
        overwrite: whether a file that is there already may be replaced; a file of the site's data never is.

    Returns:
        Figures of the prediction by name; see `Workload.predict`.

    Raises:
        WardroundError: the model is incomplete (FedBN without a site's entries), the case cannot be read, or the file
            is there already.
    """
    if not overwrite and (file.exists() or file.is_symlink()):
        raise WardroundError(
            Reason.CONFIGURATION_INVALID, f"{file}: is there already; name another file, or allow it with --overwrite"
        )
    workload, network = network_of(checkpoint, device=device)
    return workload.predict(network, case, file, data=data, where=where)
