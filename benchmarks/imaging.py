"""What the imaging job costs beside the bare work: ratios, measured side by side in one run.

    python benchmarks/imaging.py [--device cpu|cuda] [--turns 9] [--steps 24] [--no-federation]

1. A learner's step against a bare forward, backward and step on batches already in memory (at most 1.07).
2. A FedProx step against a plain step (at most 1.03).
3. The same epoch through a plain MONAI pipeline (Dataset, DataLoader, all transforms each step), which must be slower.
4. Seconds a round outside training and scoring, in a real FLARE simulation of three sites (at most 0.6).

Variants take turns and each ratio is the median over turns, since other work on a machine slows whole stretches of
time. On a CPU one thread is used, as at a simulated site, and the clock is the process's CPU time; on CUDA it is wall
time after synchronisation, with 128-voxel patches and mixed precision.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table
from torch import nn

from monai_pipeline import monai_batches
from wardround.learners.initial import initial_network
from wardround.learners.learner import Learner
from wardround.learners.make import make_learner
from wardround.learners.optimizer import make_optimizer
from wardround.records.run_lines import RoundLine, RunLine, read_lines
from wardround.records.study import Study
from wardround.site.config import load_site_config
from wardround.site.open_site import open_site
from wardround.workloads.brain_tumor.synth.writer import CaseCounts, write_hospitals
from wardround.workloads.registry import make_workload
from wardround.workloads.site_data import Batch, SiteData
from wardround.workloads.workload import Workload


@dataclass(frozen=True)
class Shape:
    """Sizes of a comparison."""

    volume: int
    patch: int
    channels: tuple[int, ...]
    mixed_precision: bool


CPU = Shape(volume=48, patch=32, channels=(16, 32, 64, 128), mixed_precision=False)
CUDA = Shape(volume=160, patch=128, channels=(32, 64, 128, 256), mixed_precision=True)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--turns", type=int, default=9, help="turns of each variant")
    parser.add_argument("--steps", type=int, default=24, help="steps a turn")
    parser.add_argument("--no-federation", action="store_true", help="leave out the FLARE simulation")
    options = parser.parse_args()
    shape = CUDA if options.device == "cuda" else CPU
    if options.device == "cpu":
        torch.set_num_threads(1)
    table = Table("measured", "ratio or seconds", "spread over turns", "asked", title=f"imaging on {options.device}")
    with tempfile.TemporaryDirectory() as folder:
        for row in compare_steps(Path(folder), shape, options.device, options.turns, options.steps):
            table.add_row(*row)
        if not options.no_federation:
            table.add_row(*round_overhead(Path(folder)))
    Console().print(table)


def compare_steps(folder: Path, shape: Shape, device: str, turns: int, steps: int) -> list[tuple[str, ...]]:
    """Rows 1 to 3."""
    site_file, *_ = write_hospitals(folder / "hospitals", hospitals=1, size=shape.volume, cases=CaseCounts(6, 1, 1))
    plain, proximal = _study(shape, steps, "fedavg"), _study(shape, steps, "fedprox")
    workload = make_workload(plain)
    data = open_site(plain, load_site_config(site_file)).data
    epoch = data.steps_per_epoch(plain.training.batch_size)
    learners = {s.algorithm.kind: _learner(workload, data, s, device) for s in (plain, proximal)}
    variants: dict[str, Callable[[], int]] = {
        "bare loop": _bare(workload, data, plain, device, steps),
        "learner": lambda: _one_round(learners["fedavg"], steps),
        "FedProx learner": lambda: _one_round(learners["fedprox"], steps),
        "MONAI pipeline": _pipeline(workload, plain, device, site_file.parent / "data", steps // epoch * epoch),
    }
    seconds: dict[str, list[float]] = {name: [] for name in variants}
    for turn in range(turns + 1):
        for name, work in variants.items():
            start = _clock(device)
            made = work()
            if turn:  # the first turn warms caches and allocators
                seconds[name].append((_clock(device) - start) / made)

    def row(name: str, variant: str, reference: str, asked: str) -> tuple[str, ...]:
        ratios = [a / b for a, b in zip(seconds[variant], seconds[reference], strict=True)]
        quartiles = statistics.quantiles(ratios, n=4)
        return name, f"{statistics.median(ratios):.3f}", f"{quartiles[0]:.3f} to {quartiles[2]:.3f}", asked

    return [
        row("learner step / bare step in memory", "learner", "bare loop", "at most 1.07"),
        row("FedProx step / plain step", "FedProx learner", "learner", "at most 1.03"),
        row("MONAI pipeline's epoch / ours", "MONAI pipeline", "learner", "more than 1"),
        ("bare step, milliseconds", f"{statistics.median(seconds['bare loop']) * 1e3:.1f}", "", ""),
    ]


def round_overhead(folder: Path) -> tuple[str, ...]:
    """Row 4: a round's wall time less the slowest site's training and scoring, median over rounds after the first."""
    from wardround.flare.environments import run_study  # the rows above need no FLARE

    sites = write_hospitals(folder / "federation", hospitals=3, size=24, cases=CaseCounts(2, 1, 1))
    study = _study(Shape(24, 16, (4, 8), False), 1, "fedavg", rounds=10)
    record = run_study(folder, study, environment="sim", sites=sites, out=folder / "run", on_line=_ignore)
    outside = [
        line.seconds["total"] - max(sum(site.report.seconds.values()) for site in line.sites.values())
        for line in read_lines(record)
        if isinstance(line, RoundLine)
    ][1:]
    quartiles = statistics.quantiles(outside, n=4)
    return (
        "seconds a round outside training and scoring",
        f"{statistics.median(outside):.2f} s",
        f"{quartiles[0]:.2f} to {quartiles[2]:.2f}",
        "at most 0.6 s",
    )


def _study(shape: Shape, steps: int, kind: str, rounds: int = 1) -> Study:
    return Study.model_validate(
        {
            "name": "benchmark",
            "workload": {
                "kind": "brain_tumor",
                "network": {"channels": shape.channels, "strides": (2,) * (len(shape.channels) - 1)},
                "patch": {"size": (shape.patch,) * 3},
            },
            "algorithm": {"kind": kind, "mu": 0.003 if kind == "fedprox" else 0.0},
            "training": {
                "rounds": rounds,
                "local_steps": steps,
                "learning_rate": 3e-3,
                "mixed_precision": shape.mixed_precision,
            },
            "evaluation": {"key_metric": "dice_mean"},
        }
    )


def _learner(workload: Workload, data: SiteData, study: Study, device: str) -> Learner:
    return make_learner(workload, data, study, site="hospital-a", run="benchmark", device=device)


def _one_round(learner: Learner, steps: int) -> int:
    learner.load(learner.shared_entries(), model_round=0)
    learner.train(0)
    return steps


def _bare(workload: Workload, data: SiteData, study: Study, device: str, steps: int) -> Callable[[], int]:
    """Forward, backward and step on eight batches that were made before."""
    batches = list(islice(data.batches(study.training.batch_size, torch.Generator().manual_seed(0)), 8))
    train = _bare_steps(workload, study, device)
    return lambda: train(cycle(batches), steps)


def _pipeline(workload: Workload, study: Study, device: str, folder: Path, steps: int) -> Callable[[], int]:
    """The same network and steps over whole epochs of MONAI's own transforms."""
    train = _bare_steps(workload, study, device)
    patch = study.workload["patch"]["size"][0]
    return lambda: train(monai_batches(folder, patch=patch, batch_size=study.training.batch_size), steps)


def _bare_steps(workload: Workload, study: Study, device: str) -> Callable[..., int]:
    network = initial_network(workload, study).to(device).train()
    criterion: nn.Module = workload.loss().to(device)
    optimizer = make_optimizer(study.training, list(network.parameters()), study.training.learning_rate)
    mixed = study.training.mixed_precision

    def train(batches: "cycle[Batch]", steps: int) -> int:
        for inputs, target in islice(batches, steps):
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast(device, dtype=torch.bfloat16, enabled=mixed):
                loss = criterion(network(inputs.to(device)), target.to(device))
            loss.backward()
            optimizer.step()
        return steps

    return train


def _ignore(line: RunLine) -> None:
    """The record is read when the run has ended."""


def _clock(device: str) -> float:
    if device == "cpu":
        return time.process_time()
    torch.cuda.synchronize()
    return time.perf_counter()


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    main()
