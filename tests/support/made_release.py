"""A made run's folder as `wardround run` leaves it, with real models, and a key to release one with."""

import subprocess
from pathlib import Path

import pytest

from support.fake_workload import FakeWorkload, make_study
from support.made_run import whole_run
from wardround.cli.write_manifest import write_run_manifest
from wardround.learners.checkpoint import Checkpoint, make_checkpoint, save_checkpoint
from wardround.learners.fill import all_entries
from wardround.records.metric_record import MetricRecord
from wardround.records.resumption import settled_settings
from wardround.records.run_lines import EndLine, RunLine, ScoreLine, StartLine, append_line, read_lines
from wardround.records.scores import Tally
from wardround.records.study import settings_digest
from wardround.releases import input_statistics
from wardround.workloads.input_cells import InputColumn

CRITERIA = {"worst_site": {"dice_mean": 0.6}, "worse_than_alone": {"dice_mean": 0.15}}
BEST_ROUND, LAST_ROUND = 3, 4


def run_lines(criteria: dict | None = None, *, run: str = "20260101-120000") -> list[RunLine]:
    """The made run of brain tumors, with intervals on final figures and with criteria that it meets."""
    lines = []
    for line in whole_run():
        if isinstance(line, StartLine):
            study = {**line.study, "acceptance": CRITERIA if criteria is None else criteria}
            line = line.model_copy(update={"study": study, "study_digest": settings_digest(study), "run": run})
        elif isinstance(line, ScoreLine) and line.split == "test":
            line = line.model_copy(update={"records": [_with_interval(record) for record in line.records]})
        lines.append(line)
    return lines


def run_folder(folder: Path, lines: list[RunLine] | None = None) -> Path:
    """Writes record, models and manifest."""
    folder.mkdir(parents=True)
    lines = lines or run_lines()
    digest = settings_digest(settled_settings(lines))
    best, last = (checkpoint(index, digest) for index in (BEST_ROUND, LAST_ROUND))
    save_checkpoint(folder / "models" / "best", best)
    save_checkpoint(folder / "models" / "last", last)
    sha = {"weights_sha256": last.card.weights_sha256, "best_weights_sha256": best.card.weights_sha256}
    for line in lines:
        if isinstance(line, EndLine) and line.weights_sha256:
            line = line.model_copy(update=sha)
        append_line(folder / "run.jsonl", line)
    write_run_manifest(folder)
    return folder


def with_inputs(run: Path, patch: pytest.MonkeyPatch) -> None:
    """Lets the run's three training sites have told how an input is distributed."""
    column = InputColumn("lactate", ("low", "high", "missing"))
    tally = Tally(name="inputs_lactate", counts={"cell_0_0": 14, "cell_1_2": 6}, n=20)
    lines = read_lines(run / "run.jsonl")
    (run / "run.jsonl").unlink()
    for line in lines:
        if isinstance(line, StartLine):
            told = [
                site.model_copy(update={"inputs": [tally]}) if site.role == "train" else site for site in line.sites
            ]
            line = line.model_copy(update={"sites": told})
        append_line(run / "run.jsonl", line)
    write_run_manifest(run)
    workload = FakeWorkload()
    patch.setattr(workload, "input_columns", lambda: [column])
    patch.setattr(input_statistics, "workload_of", lambda _settings: workload)


def checkpoint(model_round: int, study_digest: str = "d" * 64) -> Checkpoint:
    """A model of the made run; another round has other weights."""
    tensors = {name: tensor * 0 + model_round for name, tensor in all_entries(FakeWorkload().network()).items()}
    made = make_checkpoint(tensors, make_study(), model_round=model_round, workload=FakeWorkload())
    return Checkpoint(made.tensors, made.card.model_copy(update={"study": "brain_tumor", "study_digest": study_digest}))


def key_pair(folder: Path, kind: str = "ec") -> tuple[Path, Path]:
    """A private and a public key in PEM, as OpenSSL makes them."""
    private, public = folder / f"{kind}.key", folder / f"{kind}.pub"
    make = {
        "ec": ["ecparam", "-genkey", "-noout", "-name", "prime256v1"],
        "rsa": ["genpkey", "-algorithm", "RSA"],
        "ed25519": ["genpkey", "-algorithm", "ed25519"],
    }[kind]
    openssl(*make, "-out", str(private))
    openssl("pkey", "-in", str(private), "-pubout", "-out", str(public))
    return private, public


def openssl(*arguments: str) -> str:
    """What OpenSSL prints; a failure is one."""
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def _with_interval(record: MetricRecord) -> MetricRecord:
    if record.value is None:
        return record
    return record.model_copy(update={"interval": (round(record.value - 0.03, 4), round(record.value + 0.03, 4))})
