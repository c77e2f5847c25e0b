"""What the tabular job costs beside the bare work, side by side in one run; and the reading of a large table.

    python benchmarks/tabular.py [--turns 25] [--rows 10000] [--no-table]

1. A learner's local epoch against a bare loop over tensors in memory (at most 1.10): same network, same optimizer.
2. The same against the loop as most people write it, with AdamW's defaults; below 1 where ours is faster.
3. A FedProx epoch against a plain one (at most 1.05), and an epoch with FLARE's PTFedProxLoss against a bare one.
4. An epoch through a DataLoader over rows against the bare loop.
5. 101,766 encounters of Diabetes 130 from zipped CSV to tensors (under 10 s, under 1 GB), in a process of its own.

Rows have 40 columns, so 80 inputs with the indicators of what is missing; batches have 128 rows, the network hidden
layers of 64 and 32. Variants take turns, on one thread, by the process's CPU time; each ratio is the median over turns.
Row 5 needs `WARDROUND_DATA`, the folder of the public data sets.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn

from large_table import large_table_rows
from wardround.learners.initial import initial_network
from wardround.learners.learner import Learner
from wardround.learners.make import make_learner
from wardround.learners.optimizer import make_optimizer
from wardround.records.disclosure import Disclosure
from wardround.records.study import Study
from wardround.workloads.registry import make_workload
from wardround.workloads.site_data import SiteData
from wardround.workloads.workload import Workload

COLUMNS = 40  # numbers; with an indicator of what is missing each, the network has 80 inputs
BATCH = 128


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=25, help="epochs of each variant")
    parser.add_argument("--rows", type=int, default=10_000, help="training rows")
    parser.add_argument("--no-table", action="store_true", help="leave out the reading of Diabetes 130")
    options = parser.parse_args()
    torch.set_num_threads(1)
    table = Table("measured", "ratio or figure", "spread over turns", "asked", title="tables on cpu")
    with tempfile.TemporaryDirectory() as folder:
        for row in compare_epochs(Path(folder), options.turns, options.rows):
            table.add_row(*row)
    if not options.no_table:
        for row in large_table_rows():
            table.add_row(*row)
    Console().print(table)


def compare_epochs(folder: Path, turns: int, rows: int) -> list[tuple[str, ...]]:
    """Rows 1 to 4."""
    plain, proximal = _study("fedavg"), _study("fedprox")
    workload = make_workload(plain)
    data = _site(workload, folder, rows)
    learners = {study.algorithm.kind: _learner(workload, data, study) for study in (plain, proximal)}
    inputs, target = next(data.batches(data.counts["train_cases"], torch.Generator().manual_seed(0)))
    network = initial_network(workload, plain)
    variants: dict[str, Callable[[], None]] = {
        "bare": _bare(deepcopy(network), workload, inputs, target, fused=True),
        "defaults": _bare(deepcopy(network), workload, inputs, target, fused=False),
        "learner": lambda: _one_round(learners["fedavg"]),
        "FedProx": lambda: _one_round(learners["fedprox"]),
        "FLARE FedProx": _bare(deepcopy(network), workload, inputs, target, fused=True, flare_mu=0.01),
        "DataLoader": _loader(deepcopy(network), workload, inputs, target),
    }
    seconds: dict[str, list[float]] = {name: [] for name in variants}
    for turn in range(turns + 1):
        for name, epoch in variants.items():
            start = time.process_time()
            epoch()
            if turn:  # the first turn warms caches and allocators
                seconds[name].append(time.process_time() - start)

    def row(name: str, variant: str, reference: str, asked: str) -> tuple[str, ...]:
        ratios = [a / b for a, b in zip(seconds[variant], seconds[reference], strict=True)]
        quartiles = statistics.quantiles(ratios, n=4)
        return name, f"{statistics.median(ratios):.3f}", f"{quartiles[0]:.3f} to {quartiles[2]:.3f}", asked

    return [
        row("learner epoch / bare epoch in memory", "learner", "bare", "at most 1.10"),
        row("learner epoch / bare epoch, AdamW's defaults", "learner", "defaults", ""),
        row("FedProx epoch / plain epoch", "FedProx", "learner", "at most 1.05"),
        row("PTFedProxLoss epoch / bare epoch", "FLARE FedProx", "bare", ""),
        row("DataLoader epoch / bare epoch", "DataLoader", "bare", ""),
        ("bare epoch, milliseconds", f"{statistics.median(seconds['bare']) * 1e3:.1f}", "", ""),
    ]


def _study(kind: str) -> Study:
    number = {"type": "number", "meaning": "generated", "unit": "one", "range": [-6, 6]}
    contract = {
        "patient": "row",
        "index_date": "none",
        "outcome": {"name": "outcome", "meaning": "generated", "horizon_days": None},
        "columns": {f"column_{index}": number for index in range(COLUMNS)},
    }
    split = {"validation_fraction": 0, "test_fraction": 0}
    return Study.model_validate(
        {
            "name": "benchmark",
            "workload": {"kind": "clinical_risk", "contract": contract, "split": split},
            "algorithm": {"kind": kind, "mu": 0.01 if kind == "fedprox" else 0.0},
            "training": {"rounds": 1, "local_epochs": 1, "batch_size": BATCH, "learning_rate": 1e-3},
            "evaluation": {"key_metric": "brier", "key_metric_mode": "min"},
        }
    )


def _site(workload: Workload, folder: Path, rows: int) -> SiteData:
    generator = np.random.default_rng(0)
    values = generator.normal(size=(rows, COLUMNS))
    outcome = generator.random(rows) < 1 / (1 + np.exp(1.5 - values[:, 0]))
    names = [f"column_{index}" for index in range(COLUMNS)]
    lines = [",".join([*names, "outcome"])]
    lines += [",".join([*(f"{v:.4f}" for v in r), "yes" if y else "no"]) for r, y in zip(values, outcome, strict=True)]
    (folder / "rows.csv").write_text("\n".join(lines) + "\n")
    section = {
        "source": {"kind": "csv", "file": str(folder / "rows.csv")},
        "columns": {name: {"column": name} for name in names},
        "known_at_index": True,
        "outcome": {"column": "outcome"},
    }
    return workload.open_site(section, cache=folder / "cache", disclosure=Disclosure())


def _learner(workload: Workload, data: SiteData, study: Study) -> Learner:
    return make_learner(workload, data, study, site="hospital-a", run="benchmark")


def _one_round(learner: Learner) -> None:
    learner.load(learner.shared_entries(), model_round=0)
    learner.train(0)


def _bare(
    network: nn.Module, workload: Workload, inputs: Tensor, target: Tensor, *, fused: bool, flare_mu: float = 0.0
) -> Callable[[], None]:
    """Forward, backward and step on tensors, in a new order each epoch; with FLARE's proximal term where asked."""
    step = _step(network, workload, fused=fused, flare_mu=flare_mu)

    def epoch() -> None:
        network.train()
        total = 0.0
        order = torch.randperm(len(inputs))
        for start in range(0, len(inputs), BATCH):
            chosen = order[start : start + BATCH]
            total += step(inputs[chosen], target[chosen])

    return epoch


def _loader(network: nn.Module, workload: Workload, inputs: Tensor, target: Tensor) -> Callable[[], None]:
    step = _step(network, workload, fused=True)
    dataset = torch.utils.data.TensorDataset(inputs, target)
    loader = torch.utils.data.DataLoader(dataset, batch_size=BATCH, shuffle=True)

    def epoch() -> None:
        network.train()
        total = 0.0
        for batch in loader:
            total += step(*batch)

    return epoch


def _step(
    network: nn.Module, workload: Workload, *, fused: bool, flare_mu: float = 0.0
) -> Callable[[Tensor, Tensor], float]:
    criterion = workload.loss()
    parameters = list(network.parameters())
    optimizer = (
        make_optimizer(_study("fedavg").training, parameters, 1e-3)
        if fused
        else torch.optim.AdamW(parameters, lr=1e-3, weight_decay=0.0)
    )
    proximal, received = _flare_loss(flare_mu), deepcopy(network).requires_grad_(False)

    def step(rows: Tensor, truth: Tensor) -> float:
        optimizer.zero_grad()
        loss = criterion(network(rows), truth)
        if proximal is not None:
            loss = loss + proximal(network, received)
        loss.backward()
        optimizer.step()
        return float(loss.item())

    return step


def _flare_loss(mu: float) -> nn.Module | None:
    if not mu:
        return None
    from nvflare.app_opt.pt.fedproxloss import PTFedProxLoss  # the other rows need no FLARE

    return PTFedProxLoss(mu)


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    main()
