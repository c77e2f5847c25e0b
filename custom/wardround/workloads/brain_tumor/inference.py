"""The network over a whole volume."""

from typing import Any

import numpy as np
import torch
from monai.inferers import sliding_window_inference
from torch import Tensor, nn

from wardround.workloads.brain_tumor.settings import BrainTumorSettings


def infer_logits(network: nn.Module, image: Any, settings: BrainTumorSettings) -> Tensor:
    """Logits [3 regions (TC, WT, ET), X, Y, Z] of one image [sequences, X, Y, Z], a tensor or an array.

    Windows have the training patch's size, since normalisation statistics depend on it (a U-Net with InstanceNorm
    trained on 32-voxel patches lost 12 points of Dice on whole volumes), and overlap with Gaussian weights. The
    network is used in the mode that it is in, on its own device.
    """
    device = next(network.parameters()).device
    tensor = image if isinstance(image, Tensor) else torch.as_tensor(np.asarray(image))
    with torch.inference_mode():
        logits: Tensor = sliding_window_inference(
            tensor[None].to(device, torch.float32),
            roi_size=settings.patch.size,
            sw_batch_size=settings.inference.windows_at_once,
            predictor=network,
            overlap=settings.inference.overlap,
            mode="gaussian",
        )
    return logits[0]


def predict_probabilities(network: nn.Module, image: Any, settings: BrainTumorSettings) -> Tensor:
    """Probability of each region, [3 (TC, WT, ET), X, Y, Z]; see `infer_logits`."""
    return infer_logits(network, image, settings).sigmoid()
