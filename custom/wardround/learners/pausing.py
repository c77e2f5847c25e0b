"""A round's training stopped between two steps and continued later, on a CPU to the same bits."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import NoReturn

import torch
from torch import nn

from wardround.learners.paused_round import PausedRound, Start, StepsDone, read_paused, remove_paused, write_paused
from wardround.records.changed import changed
from wardround.workloads.site_data import Batch


class Paused(Exception):  # noqa: N818 - no error: what was done is kept
    """Training was stopped between two steps, and will go on from there."""


@dataclass(frozen=True)
class Pauses:
    """Where a site's paused training is kept, and when a pause is wanted.

    Args:
        folder: of the run; holds one round at most.
        wanted: asked before each step, so it should take no time.
    """

    folder: Path
    wanted: Callable[[], bool]

    def begin(self, start: Start) -> "Pausing":
        """For the steps that begin with `start`."""
        return Pausing(self, start)


@dataclass
class Trained:
    """What a step changes."""

    network: nn.Module
    optimizer: torch.optim.Optimizer
    scaler: torch.amp.GradScaler
    device: torch.device


class Pausing:
    """One run of steps that may be stopped and continued.

    What is kept: the network's entries, the optimizer's and scaler's state, torch's generators, how many batches were
    taken and what the report needs. The stream of batches is a function of its generator's seed alone, so it is made
    again up to the same place.
    """

    def __init__(self, pauses: Pauses, start: Start) -> None:
        self._pauses, self._start = pauses, start
        self._began = perf_counter()
        self._seconds_before = 0.0

    def resume(self, trained: Trained, batches: Iterator[Batch]) -> StepsDone:
        """Puts everything back as it was, where these very steps were paused before; else the beginning.

        What another round, or other weights, left behind is removed.
        """
        found = read_paused(self._pauses.folder, self._start)
        if found is None:
            remove_paused(self._pauses.folder)
            return StepsDone()
        for _ in range(found.progress.taken):
            next(batches)
        _put_back(trained, found)
        self._seconds_before = found.progress.seconds
        return found.progress

    @property
    def wanted(self) -> bool:
        """Whether to stop before the next step."""
        return self._pauses.wanted()

    def stop(self, trained: Trained, progress: StepsDone, steps: int) -> NoReturn:
        """Keeps everything, between two of `steps`.

        Raises:
            Paused: all is on disk.
        """
        progress = changed(progress, seconds=self._seconds_before + perf_counter() - self._began)
        write_paused(self._pauses.folder, _taken_down(trained, self._start, progress))
        raise Paused(f"round {self._start.round + 1}: training is paused after {progress.taken} of {steps} steps")

    def done(self) -> None:
        """All steps are made."""
        remove_paused(self._pauses.folder)


@torch.no_grad()
def _put_back(trained: Trained, found: PausedRound) -> None:
    for name, tensor in trained.network.state_dict().items():
        tensor.copy_(found.network[name])
    groups = trained.optimizer.state_dict()["param_groups"]  # a function of study and round, so made anew
    trained.optimizer.load_state_dict({"state": found.optimizer, "param_groups": groups})
    trained.scaler.load_state_dict(dict(found.scaler))
    torch.set_rng_state(found.generators["cpu"])
    if trained.device.type == "cuda" and "cuda" in found.generators:
        torch.cuda.set_rng_state(found.generators["cuda"], trained.device)


def _taken_down(trained: Trained, start: Start, progress: StepsDone) -> PausedRound:
    generators = {"cpu": torch.get_rng_state()}
    if trained.device.type == "cuda":
        generators["cuda"] = torch.cuda.get_rng_state(trained.device)
    state = trained.optimizer.state_dict()["state"]
    return PausedRound(
        start,
        progress,
        dict(trained.network.state_dict()),
        {index: {key: value for key, value in own.items() if value is not None} for index, own in state.items()},
        generators,
        trained.scaler.state_dict(),
    )
