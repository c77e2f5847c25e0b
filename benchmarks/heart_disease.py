"""Heart disease at four real hospitals: does a federation help, and whom? By hospital, over seeds.

    python benchmarks/heart_disease.py [--seeds 5] [--rounds N] [--flamby]

Needs `WARDROUND_DATA`, the folder of the public data sets. Each arm is scored on every hospital's test rows: all data
pooled, each hospital alone, FedAvg, FedProx, FedBN, a local head, FedAvg with fine-tuning and with recalibration after
it, and logistic regression fitted on a hospital's own rows, on all rows, and by the federation.

Without --flamby a seed draws another split of patients, other initial weights and another order of batches. With it
the split is FLamby's, seeds change the rest, and its published accuracies stand below ours. That split has no
validation rows: the last model is scored, and no arm is fine-tuned. Where these need rows to decide by, a fifth of the
training rows is held back in a second table. The figure after +- is the standard deviation over seeds.
"""

import argparse
import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import torch
from rich.console import Console
from rich.progress import track

import flamby
from arms import Figures, all_arms
from study_sites import changed, study_and_sites
from verdict import difference_tables, metric_tables, verdicts
from wardround.records.disclosure import Disclosure
from wardround.records.study import Study
from wardround.site.open_site import open_site
from wardround.workloads.registry import make_workload
from wardround.workloads.site_data import SiteData

MU = 0.01
HELD_BACK = 0.2  # of FLamby's training rows, where validation is needed


@dataclass(frozen=True)
class Task:
    """All arms on one seed."""

    seed: int
    rounds: int | None
    split: str  # own, flamby, or flamby with validation rows held back


TITLES = {
    "own": "heart disease, the study's split",
    "flamby": "heart disease, FLamby's split",
    "flamby_site": "heart disease, FLamby's split, each site's own mean and scale",
    "flamby_validation": "heart disease, FLamby's split, a fifth of the training rows held back for validation",
}


def main() -> None:
    """Prints a table a metric, and where federation does not help."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rounds", type=int, help="instead of the study's own")
    parser.add_argument("--flamby", action="store_true", help="on FLamby's rows and split")
    options = parser.parse_args()
    splits = [name for name in TITLES if name.startswith("flamby")] if options.flamby else ["own"]
    tasks = [Task(seed, options.rounds, split) for split in splits for seed in range(options.seeds)]
    with ProcessPoolExecutor(min(len(tasks), os.cpu_count() or 1), mp_context=get_context("spawn")) as pool:
        done = track(pool.map(run, tasks), total=len(tasks), description="seeds", console=Console(stderr=True))
        results = dict(zip(tasks, done, strict=True))
    console = Console()
    for split in splits:
        outcomes = [outcome for task, outcome in results.items() if task.split == split]
        published = None if split == "own" else _published()
        title = f"{TITLES[split]} ({options.seeds} seeds)"
        for table in (
            *metric_tables(outcomes, title=title, published=published),
            *difference_tables(outcomes, title=title),
        ):
            console.print(table)
        for sentence in verdicts(outcomes):
            console.print(sentence, highlight=False)
    if options.flamby:
        console.print(f"FLamby's rows: {flamby.SOURCE}.", highlight=False)


def run(task: Task) -> dict[str, dict[str, Figures]]:
    """Figures by arm and hospital."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        study, sites = _own(task) if task.split == "own" else _flamby(task, Path(folder))
        return dict(all_arms(study, sites, mu=MU, tuned=task.split in ("own", "flamby_validation")))


def _own(task: Task) -> tuple[Study, dict[str, SiteData]]:
    study, configs = study_and_sites("heart_disease")
    study = changed(study, seed=task.seed, workload={"split": {"seed": task.seed}}, training=_rounds(task))
    return study, {name: open_site(study, config).data for name, config in configs.items()}


def _flamby(task: Task, folder: Path) -> tuple[Study, dict[str, SiteData]]:
    study, _ = study_and_sites("heart_disease")
    held_back = HELD_BACK if task.split == "flamby_validation" else 0.0
    normalisation = "site" if task.split == "flamby_site" else "federated"
    study = study.model_copy(update={"workload": {**study.workload, "contract": flamby.contract()}})
    study = changed(
        study,
        seed=task.seed,
        workload={"normalisation": normalisation, "split": {"validation_fraction": held_back}},
        training=_rounds(task),
    )
    return study, dict(_flamby_sites(study, folder))


def _flamby_sites(study: Study, folder: Path) -> Iterator[tuple[str, SiteData]]:
    raw = Path(os.environ["WARDROUND_DATA"]) / "heart_disease"
    for site in flamby.SITES:
        flamby.write_split(raw, folder / f"{site}.csv", site)
        section = flamby.section(folder / f"{site}.csv")
        yield (
            site,
            make_workload(study).open_site(section, cache=folder / "cache", disclosure=Disclosure()),
        )


def _rounds(task: Task) -> dict[str, int]:
    return {} if task.rounds is None else {"rounds": task.rounds}


def _published() -> dict[str, dict[str, float]]:
    return {row: dict(zip(flamby.SITES, values, strict=True)) for row, values in flamby.PUBLISHED.items()}


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
