"""The training loop: as close to forward, backward and step as a hospital's data allows."""

import logging
import math
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from wardround.aggregation.norms import l2_norm
from wardround.learners.correction import Correction, NoCorrection
from wardround.learners.paused_round import StepsDone
from wardround.learners.pausing import Pausing, Trained
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.site_data import Batch

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class StepSettings:
    """How steps are made. Mixed precision holds on CUDA alone; on a CPU autocast is about ten times slower."""

    clip_norm: float | None = None
    mixed_precision: bool = False
    bad_steps_limit: int = 5


@dataclass(frozen=True)
class StepReport:
    """What a run of steps did. Norms are of the last step, and None or 0 where that was skipped.

    Skipped are steps whose loss was not finite, and in half precision those whose gradient was not. `seconds_before`
    is the wall time up to the last pause.
    """

    made: int
    skipped: int
    loss: float | None
    gradient_norm: float | None
    correction_norm: float
    seconds_before: float = 0.0


def run_steps(
    network: nn.Module,
    criterion: nn.Module,
    batches: Iterator[Batch],
    steps: int,
    optimizer: torch.optim.Optimizer,
    settings: StepSettings,
    *,
    device: torch.device,
    correction: Correction | None = None,
    measured: Sequence[Tensor] = (),
    pausing: Pausing | None = None,
) -> StepReport:
    """Trains in place for `steps` batches.

    A loss that is NaN or infinite leaves no trace: its step is not made, and the running statistics that its forward
    pass changed are put back. The loss is read once a step, after the forward pass, which on a GPU waits for work
    that the backward pass needs anyway.

    Args:
        correction: what to add to the gradient.
        measured: parameters over which the last step's gradient norm is told.
        pausing: goes on where these steps were paused before, and pauses them where that is wanted.

    Raises:
        Paused: the steps are to go on later.
        WardroundError: `bad_steps_limit` losses in a row are not finite, or not one step of the round could be made.
    """
    correction = correction or NoCorrection()
    mixed = settings.mixed_precision and device.type == "cuda"
    dtype = torch.bfloat16 if mixed and torch.cuda.is_bf16_supported(including_emulation=False) else torch.float16
    scaler = torch.amp.GradScaler(device.type, enabled=mixed and dtype is torch.float16)
    clipped = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    # made once: autocast that is off costs a small network some per cent of its step
    precision: AbstractContextManager[object] = torch.autocast(device.type, dtype=dtype) if mixed else nullcontext()
    trained = Trained(network, optimizer, scaler, device)
    progress = pausing.resume(trained, batches) if pausing else StepsDone()
    total, made, in_a_row = progress.total, progress.made, progress.in_a_row
    undo = _Undo(network)
    network.train()
    gradient_norm, correction_norm = None, 0.0
    for index in range(progress.taken, steps):
        if pausing and pausing.wanted:
            pausing.stop(trained, StepsDone(taken=index, made=made, total=total, in_a_row=in_a_row), steps)
        inputs, target = next(batches)
        inputs, target = inputs.to(device, non_blocking=True), target.to(device, non_blocking=True)
        optimizer.zero_grad(set_to_none=True)
        with precision:
            loss = criterion(network(inputs), target)
        value = loss.item()
        if not math.isfinite(value):
            undo.restore()
            in_a_row += 1
            if in_a_row >= settings.bad_steps_limit:
                raise WardroundError(
                    Reason.LOSS_NOT_FINITE,
                    f"training: {in_a_row} losses in a row were not finite (last: {value}); "
                    "lower training.learning_rate, set training.clip_norm, or check the inputs for NaN",
                )
            continue
        in_a_row = 0
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        if index == steps - 1:
            gradient_norm = l2_norm(p.grad for p in measured if p.grad is not None)
            correction_norm = correction.gradient_norm()
        correction.apply()
        if settings.clip_norm is not None:
            nn.utils.clip_grad_norm_(clipped, settings.clip_norm)
        undo.remember()
        if not step_made(scaler, optimizer):
            gradient_norm = None
            continue
        total += value
        made += 1
    if not made:
        raise WardroundError(
            Reason.LOSS_NOT_FINITE,
            f"training: none of {steps} steps could be made, for none had a finite loss and gradient; "
            "lower training.learning_rate, set training.clip_norm, or check the inputs for NaN",
        )
    if steps > made:
        logger.warning("%d of %d steps were skipped: their loss or gradient was not finite", steps - made, steps)
    return StepReport(made, steps - made, total / made, gradient_norm, correction_norm, progress.seconds)


def step_made(scaler: torch.amp.GradScaler, optimizer: torch.optim.Optimizer) -> bool:
    """Makes the optimizer's step, unless half precision overflowed in a gradient: then the scaler leaves it out.

    It says so by a smaller scale alone. A few such steps are how the scale is found, so they do not end a round.
    """
    scale = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    return scaler.get_scale() >= scale


class _Undo:
    """The network's buffers as of the last good step: a bad batch's forward pass reaches running statistics too."""

    def __init__(self, network: nn.Module) -> None:
        self._live = list(network.buffers())
        self._good = [buffer.clone() for buffer in self._live]

    @torch.no_grad()
    def remember(self) -> None:
        if self._live:
            torch._foreach_copy_(self._good, self._live)

    @torch.no_grad()
    def restore(self) -> None:
        if self._live:
            torch._foreach_copy_(self._live, self._good)
