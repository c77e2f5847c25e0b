"""30-day readmission on pseudo-sites of one public table: does a federation help beside logistic regression?

    python benchmarks/readmission.py [--seeds 5] [--rounds N]

Needs `WARDROUND_DATA`, the folder of the public data sets. The public file names no hospital: the sites are parts of it
that stand for hospitals, so their differences are smaller or of another kind than between real ones. The arms are those
of heart_disease.py. A seed draws another split of patients, other initial weights and another order of batches. The
figure after +- is the standard deviation over seeds.
"""

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

import torch
from rich.console import Console
from rich.progress import track

from arms import METRICS, Figures, all_arms
from study_sites import changed, study_and_sites
from verdict import difference_tables, metric_tables, verdicts
from wardround.records.metric_record import value_of
from wardround.site.open_site import open_site
from wardround.workloads.registry import make_workload
from wardround.workloads.split import SPLITS

MU = 0.01
REFERENCE = "Pooled logistic regression as known from this table: AUROC .659, AUPRC .206, Brier .097."


@dataclass(frozen=True)
class Task:
    """All arms on one seed."""

    seed: int
    rounds: int | None


def main() -> None:
    """Prints a table a metric, and where federation does not help."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rounds", type=int, help="instead of the study's own")
    options = parser.parse_args()
    tasks = [Task(seed, options.rounds) for seed in range(options.seeds)]
    with ProcessPoolExecutor(min(len(tasks), os.cpu_count() or 1), mp_context=get_context("spawn")) as pool:
        done = track(pool.map(run, tasks), total=len(tasks), description="seeds", console=Console(stderr=True))
        outcomes = list(done)
    console = Console()
    title = f"readmission, pseudo-sites ({options.seeds} seeds)"
    for table in (*metric_tables(outcomes, title=title), *difference_tables(outcomes, title=title)):
        console.print(table)
    for sentence in (*verdicts(outcomes), f"{whole_table()} {REFERENCE}"):
        console.print(sentence, highlight=False)


def whole_table() -> str:
    """Logistic regression on all rows of the public file as one site: what no division into sites has touched."""
    study, configs = study_and_sites("readmission")
    config = next(iter(configs.values()))
    section = {**config.section(study.workload["kind"], study.name), "rows": {}}
    whole = config.model_copy(update={"data": {study.name: section}})
    data = open_site(study, whole).data
    model = make_workload(study).reference(data)
    assert model is not None
    records = data.score(model, "test").records
    figures = ", ".join(
        f"{title} {value_of(records, name):.3f}" for title, name in METRICS.items() if name != "accuracy"
    )
    return f"Logistic regression on all {sum(data.counts[f'{s}_cases'] for s in SPLITS)} rows of the file: {figures}."


def run(task: Task) -> dict[str, dict[str, Figures]]:
    """Figures by arm and pseudo-site."""
    torch.set_num_threads(1)
    study, configs = study_and_sites("readmission")
    rounds = {} if task.rounds is None else {"rounds": task.rounds}
    study = changed(study, seed=task.seed, workload={"split": {"seed": task.seed}}, training=rounds)
    sites = {name: open_site(study, config).data for name, config in configs.items()}
    return dict(all_arms(study, sites, mu=MU))


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
