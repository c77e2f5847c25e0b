"""The optimizer of one round, and how its step shrinks over rounds."""

import math
from collections.abc import Iterable

import torch
from torch import nn

from wardround.records.study_sections import Training


def learning_rate(training: Training, round_index: int) -> float:
    """Step size in a round: lr (f + (1 - f) (1 + cos(pi r / R)) / 2), or lr where the schedule is constant.

    Over rounds and not over steps, so that all sites step alike in a round however long theirs is. Round R gives the
    end of the schedule, f lr, which fine-tuning uses.
    """
    if training.schedule == "constant":
        return training.learning_rate
    progress = min(round_index, training.rounds) / training.rounds
    share = training.final_fraction + (1 - training.final_fraction) * (1 + math.cos(math.pi * progress)) / 2
    return training.learning_rate * share


def make_optimizer(training: Training, parameters: Iterable[nn.Parameter], rate: float) -> torch.optim.Optimizer:
    """A fresh optimizer: moments of another round's weights would pull from where the site no longer is."""
    listed = list(parameters)
    if training.optimizer == "sgd":
        return torch.optim.SGD(listed, lr=rate, weight_decay=training.weight_decay, fused=True)
    return torch.optim.AdamW(listed, lr=rate, weight_decay=training.weight_decay, fused=True)
