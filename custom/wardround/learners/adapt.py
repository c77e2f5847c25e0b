"""Re-measuring BatchNorm statistics on a site's own unlabelled cases."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from wardround.learners.checkpoint import Checkpoint, with_entries
from wardround.learners.devices import usable_device
from wardround.learners.fill import all_entries, fill_network
from wardround.learners.seeds import seed_of, seeded
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.site_data import SiteData
from wardround.workloads.workload import Workload

RE_MEASURED = "statistics_re_measured"
OF_SCORED_CASES = "statistics_of_scored_cases"  # there were no others


def remarks(data: SiteData) -> tuple[str, ...]:
    """What a model's notes say of statistics that were re-measured on this data."""
    return (RE_MEASURED,) if data.has_unlabelled else (RE_MEASURED, OF_SCORED_CASES)


@torch.no_grad()
def re_measure(network: nn.Module, batches: Iterable[Tensor], device: torch.device) -> int:
    """Replaces running statistics by their mean over `batches` (AdaBN, Li et al., 2017). Weights stay as they are.

    Each batch counts the same (momentum None). Only BatchNorm layers are in training mode, so that dropout does
    not blur what is measured, and each layer sees inputs that the layers before normalised by the same batch, as in
    training. Statistics depend on the size of the inputs, hence batches in the training batches' geometry.

    Returns:
        The number of batches. Momentum and the training mode of every module are as before.

    Raises:
        WardroundError: no BatchNorm layer with running statistics, or no batch.
    """
    layers = [m for m in network.modules() if isinstance(m, _BatchNorm) and m.running_mean is not None]
    if not layers:
        raise WardroundError(
            Reason.NOTHING_KEPT_LOCAL,
            "adapt: the network has no BatchNorm statistics to re-measure; use its checkpoint as it is",
        )
    modes = [(module, module.training) for module in network.modules()]
    momenta = [layer.momentum for layer in layers]
    count = 0
    try:
        network.eval()
        for layer in layers:
            layer.reset_running_stats()
            layer.momentum = None
            layer.train()
        for inputs in batches:
            network(inputs.to(device))
            count += 1
    finally:
        for layer, momentum in zip(layers, momenta, strict=True):
            layer.momentum = momentum
        for module, training in modes:
            module.training = training
    if count == 0:
        raise WardroundError(Reason.TOO_FEW_CASES, "adapt: the site has no case to measure statistics on")
    return count


def adapt_checkpoint(
    checkpoint: Checkpoint, workload: Workload, data: SiteData, *, site: str, device: str = "cpu"
) -> Checkpoint:
    """A checkpoint completed for a site that never trained: its shared entries, with statistics of the site's cases.

    Entries that the checkpoint lacks start as the study initialises them: under FedBN affine values are 1 and 0, under
    `silobn` they are in the checkpoint already.

    Raises:
        WardroundError: the checkpoint is of another architecture, its algorithm leaves a head at each site, or the
            network has no BatchNorm statistics.
    """
    card = checkpoint.card
    if card.algorithm.kind == "local_head":
        raise WardroundError(
            Reason.LOCAL_STATE_MISSING,
            "adapt: a local head model has no statistics to re-measure, and a head is learned with labels; use the "
            "model that a hospital which trained keeps in its state folder, under <run>/models, or let this hospital "
            "train",
        )
    chosen = usable_device(device)
    with seeded(seed_of(card.study, card.study_seed, site, "adapt", 0), chosen) as generator:
        network = workload.network()
        absent = {name: tensor for name, tensor in network.state_dict().items() if name in card.kept_local}
        fill_network(network, {**absent, **checkpoint.tensors})
        network.to(chosen)
        re_measure(network, data.unlabelled(card.batch_size, generator), chosen)
    return with_entries(checkpoint, all_entries(network), site=site, notes=remarks(data))
