"""The risk network: standardised inputs, hidden layers, one logit."""

import torch
from torch import Tensor, nn

from wardround.workloads.clinical_risk.settings import NetworkSettings

HEAD = "head"


class RiskMLP(nn.Module):
    """[batch, inputs] to logits [batch, 1]: Standardise, then hidden layers, then a linear head.

    Each hidden layer is Linear, BatchNorm (norm: batch), ReLU, dropout. Without hidden layers this is logistic
    regression.

    Args:
        inputs: how many, see `encode.input_names`.
        settings: widths, dropout and normalisation.
    """

    def __init__(self, inputs: int, settings: NetworkSettings) -> None:
        super().__init__()
        self.standardise = Standardise(inputs)
        layers: list[nn.Module] = []
        width = inputs
        for hidden in settings.hidden:
            layers.append(nn.Linear(width, hidden))
            if settings.norm == "batch":
                layers.append(nn.BatchNorm1d(hidden))
            layers.append(nn.ReLU())
            if settings.dropout:
                layers.append(nn.Dropout(settings.dropout))
            width = hidden
        self.backbone = nn.Sequential(*layers)
        self.head = nn.Linear(width, 1)

    def forward(self, inputs: Tensor) -> Tensor:
        """Logits; an input may be NaN where a value is missing."""
        logits: Tensor = self.head(self.backbone(self.standardise(inputs)))
        return logits


class Standardise(nn.Module):
    """(x - mean) / scale, and 0, the mean itself, where x is missing (NaN).

    Mean and scale are buffers, the same at every site and part of the model, so that a checkpoint alone can predict.
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(inputs))
        self.register_buffer("scale", torch.ones(inputs))

    def forward(self, inputs: Tensor) -> Tensor:
        """[batch, inputs], finite wherever an input is finite or NaN."""
        return torch.nan_to_num((inputs - self.mean) / self.scale, nan=0.0)
