"""A run's rounds without FLARE, servers and processes: what its weights must be, whatever went wrong on the way."""

from collections.abc import Sequence
from pathlib import Path

import torch
import yaml
from torch import Tensor

from wardround.aggregation.mean import weighted_mean
from wardround.aggregation.weights import effective_weights
from wardround.learners.checkpoint import load_checkpoint
from wardround.learners.initial import initial_shared_entries
from wardround.records.orders import Order
from wardround.records.run_lines import RoundLine
from wardround.records.study import Study
from wardround.site.config import load_site_config
from wardround.site.gate import guard
from wardround.site.tasks import SiteTasks
from wardround.workloads.registry import make_workload
from wardround.workloads.words import words_of


def assert_weights_by_hand(
    study: Study, files: Sequence[Path], rounds: Sequence[RoundLine], last: Path, folder: Path
) -> None:
    """The last model equals, bit for bit, what the sites in each round's `contributed` come to by themselves.

    Args:
        files: site.yaml of every training site that was there from the start.
        last: the checkpoint of the run's last model.
        folder: for the sites' state, so that theirs in the run is neither used nor changed.
    """
    expected, found = _weights(study, files, rounds, folder), load_checkpoint(last).tensors
    assert expected.keys() == found.keys()
    assert [name for name in found if not torch.equal(expected[name], found[name])] == []


def with_one_thread(files: Sequence[Path]) -> list[Path]:
    """Before a run on a machine with many cores, whose sums would otherwise come in another order than here."""
    for file in files:
        settings = yaml.safe_load(file.read_text(encoding="utf-8"))
        file.write_text(yaml.safe_dump({**settings, "threads": 1}, sort_keys=False), encoding="utf-8")
    return list(files)


def _weights(study: Study, files: Sequence[Path], rounds: Sequence[RoundLine], folder: Path) -> dict[str, Tensor]:
    torch.set_num_threads(1)
    configs = [load_site_config(file) for file in files]
    sites = {
        config.name: SiteTasks(study, config.model_copy(update={"state_folder": folder / config.name}))
        for config in configs
    }
    words = words_of(study.workload)
    manifests = {}  # as they left: a sum that a site holds back is in no initial model
    for config in sorted(configs, key=lambda one: one.name):
        answer = sites[config.name].prepare(Order(run="by_hand"))
        manifests[config.name] = guard(answer, config.disclosure, words).reply.manifest
    sums = [tally for manifest in manifests.values() if manifest for tally in manifest.statistics]
    shared = initial_shared_entries(make_workload(study), study, sums)
    acknowledged: dict[str, int] = {}
    for line in rounds:
        order = Order(run="by_hand", round=line.round, model_round=line.round, acknowledged=dict(acknowledged))
        updates = {name: sites[name].train(order, shared) for name in line.contributed}
        patients = {name: float(reply.report.patients) for name, (reply, _) in updates.items() if reply.report}
        weights = effective_weights(patients, study.aggregation.weighting)
        mean = weighted_mean({name: difference for name, (_, difference) in updates.items()}, weights)
        shared = {name: tensor + mean[name] for name, tensor in shared.items()}
        acknowledged |= dict.fromkeys(line.contributed, line.round)
    return shared
