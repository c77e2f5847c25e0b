"""A site's own model: the global one fine-tuned, where that helps."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from wardround.learners.steps import StepReport
from wardround.records.metric_record import firm_value_of
from wardround.records.reasons import Reason, WardroundError
from wardround.records.scores import Scores

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Personalised:
    """Whether fine-tuning was kept, and the validation scores that decided; `after` is None where it blew up."""

    kept: bool
    before: Scores
    after: Scores | None

    @property
    def note(self) -> str:
        """The record's remark."""
        return "fine_tuning_kept" if self.kept else "fine_tuning_not_kept"


def fine_tune(
    network: nn.Module,
    *,
    validate: Callable[[], Scores],
    train: Callable[[], StepReport],
    key_metric: str,
    mode: str,
) -> Personalised:
    """Trains in place, and puts the weights back unless the key metric got better.

    Not better, without a value that rests on enough cases on either side, or ended by losses that are not finite,
    means the model that all sites share stays: fine-tuning on a few cases that cannot be shown to help is not given
    to anyone.
    """
    before = validate()
    saved = {name: tensor.detach().clone() for name, tensor in network.state_dict().items()}
    after: Scores | None = None
    try:
        train()
        after = validate()
    except WardroundError as error:
        if error.code is not Reason.LOSS_NOT_FINITE:
            raise
        logger.warning("fine-tuning is not kept: %s", error)
    was = firm_value_of(before.records, key_metric)
    now = firm_value_of(after.records, key_metric) if after else None
    kept = was is not None and now is not None and (now > was if mode == "max" else now < was)
    if not kept:
        with torch.no_grad():
            for name, tensor in network.state_dict().items():
                tensor.copy_(saved[name])
    return Personalised(kept, before, after)
