"""Logits and probabilities of many rows at once."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.evaluation import evaluation_mode

_ROWS_AT_ONCE = 65_536


def predict_logits(network: nn.Module, inputs: Tensor) -> NDArray[np.float64]:
    """Logits [rows] in evaluation mode, computed on the network's device.

    Raises:
        WardroundError: one of them is not finite.
    """
    device = next(network.parameters()).device
    with torch.inference_mode(), evaluation_mode(network):
        parts = [network(part.to(device)).cpu().double() for part in inputs.split(_ROWS_AT_ONCE)]
    logits: NDArray[np.float64] = torch.cat(parts)[:, 0].numpy()
    broken = int((~np.isfinite(logits)).sum())
    if broken:
        raise WardroundError(
            Reason.NOT_FINITE,
            f"the network gave no finite risk for {broken} of {len(logits)} rows; its weights are broken, use another",
        )
    return logits


def probabilities_of(network: nn.Module, inputs: Tensor) -> NDArray[np.float64]:
    """Probabilities [rows], see `predict_logits`."""
    probabilities: NDArray[np.float64] = torch.from_numpy(predict_logits(network, inputs)).sigmoid().numpy()
    return probabilities
