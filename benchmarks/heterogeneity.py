"""When do FedProx and FedBN help? Whole-tumor Dice by hospital on the test split, over seeds.

    python benchmarks/heterogeneity.py [--seeds 3] [--rounds 8] [--only equal,mismatch,twelve]

equal     all hospitals prepare images as agreed (6 training cases a site, 8 rounds of 96 steps); also each alone
mismatch  hospital-c scales to min-max instead of z-scores (12 training cases a site, 8 rounds of 48 steps)
twelve    12 training cases a site, prepared as agreed (8 rounds of 48 steps): a hospital alone against the federation

A seed draws new patients and new initial weights. The learners run without FLARE, in as many processes as there are
cores; the last model is scored. The figure after +- is the standard deviation over seeds.
"""

import argparse
import os
import statistics
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import torch
from rich.console import Console
from rich.progress import track
from rich.table import Table

from federation import federate
from wardround.records.arms import LAST
from wardround.records.metric_record import value_of
from wardround.records.study import Study
from wardround.site.config import load_site_config
from wardround.site.open_site import open_site
from wardround.workloads.brain_tumor.synth.writer import CaseCounts, write_hospitals
from wardround.workloads.registry import make_workload

MU = {"fedprox": 0.003, "fedprox_fedbn": 0.003}


@dataclass(frozen=True)
class Setting:
    """One comparison."""

    title: str
    train_cases: int
    steps: int
    min_max: tuple[str, ...]
    algorithms: tuple[str, ...]
    alone: bool = False


SETTINGS = {
    "equal": Setting("equal preprocessing, 6 cases a site", 6, 96, (), ("fedavg", "fedprox", "fedbn"), alone=True),
    "mismatch": Setting(
        "hospital-c min-max scales, 12 cases a site", 12, 48, ("hospital-c",), ("fedavg", "fedprox", "fedbn")
    ),
    "twelve": Setting("equal preprocessing, 12 cases a site", 12, 48, (), ("fedavg",), alone=True),
}


@dataclass(frozen=True)
class Task:
    """One run: an algorithm, or one hospital alone, on one seed."""

    setting: str
    arm: str
    seed: int
    rounds: int
    steps: int
    folder: Path
    sites: tuple[str, ...]


def main() -> None:
    """Prints one table a setting."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--steps", type=int, help="local steps a round instead of each setting's own")
    parser.add_argument("--size", type=int, default=48, help="voxels a side")
    parser.add_argument("--only", default=",".join(SETTINGS), help="settings, by comma")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tasks = [
            task
            for name in options.only.split(",")
            for seed in range(options.seeds)
            for task in _tasks(name, seed, options, Path(folder))
        ]
        with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
            done = track(pool.map(run, tasks), total=len(tasks), description="runs", console=Console(stderr=True))
            results = dict(zip(tasks, done, strict=True))
    for name in options.only.split(","):
        Console().print(_table(SETTINGS[name], {task: r for task, r in results.items() if task.setting == name}))


def run(task: Task) -> dict[str, float | None]:
    """Whole-tumor Dice by site."""
    torch.set_num_threads(1)
    study = _study("fedavg" if task.arm == "alone" else task.arm, task)
    configs = {name: load_site_config(task.folder / name / "site.yaml") for name in task.sites}
    data = {name: open_site(study, config).data for name, config in configs.items()}
    result = federate(study, make_workload(study), data, run=f"{task.setting}-{task.arm}-{task.seed}")
    return {name: value_of(scores.records, "dice_wt") for name, scores in result.test[LAST].items()}


def _tasks(name: str, seed: int, options: argparse.Namespace, folder: Path) -> list[Task]:
    setting = SETTINGS[name]
    home = folder / f"{name}-{seed}"
    steps = options.steps or setting.steps
    files = write_hospitals(
        home,
        hospitals=3,
        size=options.size,
        cases=CaseCounts(setting.train_cases, 1, 8),
        seed=seed,
        min_max=setting.min_max,
    )
    sites = tuple(file.parent.name for file in files)
    alone = [Task(name, "alone", seed, options.rounds, steps, home, (site,)) for site in sites] if setting.alone else []
    return [Task(name, arm, seed, options.rounds, steps, home, sites) for arm in setting.algorithms] + alone


def _study(kind: str, task: Task) -> Study:
    return Study.model_validate(
        {
            "name": "heterogeneity",
            "seed": task.seed,
            "workload": {"kind": "brain_tumor"},
            "algorithm": {"kind": kind, "mu": MU.get(kind, 0.0)},
            "training": {
                "rounds": task.rounds,
                "local_steps": task.steps,
                "learning_rate": 3e-3,
                "weight_decay": 1e-5,
            },
            "evaluation": {"key_metric": "dice_mean"},
        }
    )


def _table(setting: Setting, results: dict[Task, dict[str, float | None]]) -> Table:
    sites = sorted({site for result in results.values() for site in result})
    seeds = len({task.seed for task in results})
    table = Table("whole-tumor Dice", *sites, "mean", title=f"{setting.title} ({seeds} seeds)")
    for arm in (*setting.algorithms, *(("alone",) if setting.alone else ())):
        by_site = {
            site: [value for task, r in results.items() if task.arm == arm and (value := r.get(site)) is not None]
            for site in sites
        }
        everything = [value for values in by_site.values() for value in values]
        table.add_row(arm, *(_figure(values) for values in by_site.values()), f"{statistics.fmean(everything):.3f}")
    return table


def _figure(values: list[float]) -> str:
    spread = f" +- {statistics.stdev(values):.3f}" if len(values) > 1 else ""
    return f"{statistics.fmean(values):.3f}{spread}"


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    main()
