"""A run through FLARE's simulator in which one site sends what it must not, each round something else, and is about
five times slower than the others."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import torch

from e2e.conftest import left_over
from support.by_hand import assert_weights_by_hand, with_one_thread
from support.faulty_executor import SITE, SLOW_FROM, ShortRoundsController, TamperedExecutor, use
from support.provisioned import ROOT
from wardround.flare.environments import run_study
from wardround.learners.checkpoint import load_checkpoint
from wardround.records.run_lines import EndLine, RoundLine, RunLine, ScoreLine, read_lines
from wardround.records.study import Study, load_study
from wardround.workloads.clinical_risk.synth.writer import write_hospitals

pytestmark = pytest.mark.e2e

OTHERS = ["hospital-a", "hospital-b"]
EVERYONE = [*OTHERS, SITE]


@dataclass
class Run:
    study: Study
    sites: list[Path]
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


def _study() -> Study:
    """FedBN, whose sites keep entries that no fault may change either."""
    settings = (
        "algorithm.kind=fedbn",
        "workload.network.norm=batch",
        "training.rounds=7",
        "training.local_steps=60",
        "training.local_epochs=null",
        "evaluation.personalise_steps=0",
        "evaluation.recalibrate=false",
        "federation.quorum=2",
        "federation.grace_period_seconds=290",
        "federation.round_deadline_seconds=300",
    )
    return load_study(ROOT / "jobs" / "clinical_risk", settings)


@pytest.fixture(scope="module")
def tampered(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("tampered")
    sites = with_one_thread(write_hospitals(folder / "sites", hospitals=3, rows=150, seed=2))
    run = Run(_study(), sites, folder / "out")

    def hear(line: RunLine) -> None:
        run.heard.append((time.monotonic(), line))

    with pytest.MonkeyPatch.context() as patch:
        use(patch, TamperedExecutor, ShortRoundsController)
        run_study(Path("study"), run.study, environment="sim", sites=sites, out=run.out, on_line=hear)
    assert left_over() == []
    return run


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
        {},
    ]
    assert [line.failed for line in tampered.rounds] == [{}] * 7
    assert [line.contributed for line in tampered.rounds] == [
        EVERYONE if index in (2, 4, 5, 6) else OTHERS for index in range(7)
    ]


def test_another_sites_name_counts_as_that_of_its_certificate(tampered: Run) -> None:
    line = tampered.rounds[2]
    assert sorted(line.sites) == EVERYONE
    patients = {site: entry.report.patients for site, entry in line.sites.items()}
    others = {site: entry.report.patients for site, entry in tampered.rounds[4].sites.items()}
    assert patients == others


def test_a_site_five_times_slower_is_waited_for_and_told_as_a_straggler(tampered: Run) -> None:
    told = [line.round for line in tampered.rounds if f"{SITE}: straggler" in line.alarms]
    assert set(told) <= {*range(SLOW_FROM, 7)}
    assert len(told) >= 4  # in one or two the others may be slow as well, on a busy machine
    assert [line.late for line in tampered.rounds] == [[]] * 7


def test_the_weights_are_those_of_the_same_participation_without_a_fault(tampered: Run, tmp_path: Path) -> None:
    last = tampered.out / "models" / "last"
    assert_weights_by_hand(tampered.study, tampered.sites, tampered.rounds, last, tmp_path)


def test_the_model_stays_good_and_the_run_ends_complete(tampered: Run) -> None:
    assert (tampered.end.status, tampered.end.reasons) == ("complete", [])
    moved = [line.moved for line in tampered.rounds]
    assert max(moved) < 100 * min(moved)  # an update a million times as long would show
    last = load_checkpoint(tampered.out / "models" / "last")
    assert all(bool(torch.isfinite(tensor).all()) for tensor in last.tensors.values())
    scored = {line.site for line in tampered.lines if isinstance(line, ScoreLine) and line.arm == "last"}
    assert scored == set(EVERYONE)
