"""A run through FLARE's simulator in which one site sends what it must not, each round something else."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import torch

from e2e.conftest import left_over
from support.faulty_executor import SITE, TamperedExecutor, use
from support.provisioned import ROOT
from wardround.flare.environments import run_study
from wardround.flare.executor import SiteExecutor
from wardround.learners.checkpoint import load_checkpoint
from wardround.records.run_lines import EndLine, RoundLine, RunLine, ScoreLine, read_lines
from wardround.records.study import Study, load_study
from wardround.workloads.clinical_risk.synth.writer import write_hospitals

pytestmark = pytest.mark.e2e

OTHERS = ["hospital-a", "hospital-b"]
EVERYONE = [*OTHERS, SITE]


@dataclass
class Run:
    out: Path
    heard: list[tuple[float, RunLine]] = field(default_factory=list)

    @property
    def lines(self) -> list[RunLine]:
        return read_lines(self.out / "run.jsonl")

    @property
    def rounds(self) -> list[RoundLine]:
        return [line for line in self.lines if isinstance(line, RoundLine)]

    @property
    def end(self) -> EndLine:
        (end,) = (line for line in self.lines if isinstance(line, EndLine))
        return end


def _study(grace: int) -> Study:
    """FedBN, whose sites keep entries that no fault may change either."""
    settings = (
        "algorithm.kind=fedbn",
        "workload.network.norm=batch",
        "training.rounds=6",
        "training.local_steps=20",
        "training.local_epochs=null",
        "evaluation.personalise_steps=0",
        "evaluation.recalibrate=false",
        "federation.quorum=2",
        f"federation.grace_period_seconds={grace}",
        "federation.round_deadline_seconds=300",
    )
    return load_study(ROOT / "jobs" / "clinical_risk", settings)


def _run(folder: Path, executor: type[SiteExecutor], grace: int) -> Run:
    sites = write_hospitals(folder / "sites", hospitals=3, rows=150, seed=2)
    run = Run(folder / "out")

    def hear(line: RunLine) -> None:
        run.heard.append((time.monotonic(), line))

    with pytest.MonkeyPatch.context() as patch:
        use(patch, executor)
        run_study(Path("study"), _study(grace), environment="sim", sites=sites, out=run.out, on_line=hear)
    assert left_over() == []
    return run


@pytest.fixture(scope="module")
def tampered(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return _run(tmp_path_factory.mktemp("tampered"), TamperedExecutor, grace=290)


def test_what_a_tampered_site_sends_is_turned_away_by_name_and_reason(
    tampered: Run, record_property: Callable[[str, object], None]
) -> None:
    record_property("seconds_by_round", [round(line.seconds["total"], 1) for line in tampered.rounds])
    assert [line.rejected for line in tampered.rounds] == [
        {SITE: "not_finite"},
        {SITE: "shape_mismatch"},
        {},
        {SITE: "norm_too_large"},
        {},
        {},
    ]
    assert [line.failed for line in tampered.rounds] == [{}] * 6
    assert [line.contributed for line in tampered.rounds] == [
        EVERYONE if index in (2, 4, 5) else OTHERS for index in range(6)
    ]


def test_another_sites_name_counts_as_that_of_its_certificate(tampered: Run) -> None:
    line = tampered.rounds[2]
    assert sorted(line.sites) == EVERYONE
    patients = {site: entry.report.patients for site, entry in line.sites.items()}
    others = {site: entry.report.patients for site, entry in tampered.rounds[4].sites.items()}
    assert patients == others


def test_the_model_stays_good_and_the_run_ends_complete(tampered: Run) -> None:
    assert (tampered.end.status, tampered.end.reasons) == ("complete", [])
    moved = [line.moved for line in tampered.rounds]
    assert max(moved) < 100 * min(moved)  # an update a million times as long would show
    last = load_checkpoint(tampered.out / "models" / "last")
    assert all(bool(torch.isfinite(tensor).all()) for tensor in last.tensors.values())
    scored = {line.site for line in tampered.lines if isinstance(line, ScoreLine) and line.arm == "last"}
    assert scored == set(EVERYONE)
