"""One run in FLARE's simulator, looked at from all sides. One hospital fails in the first round and comes back."""

import contextlib
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from e2e.conftest import left_over, tiny_study
from wardround.flare import simulator
from wardround.flare.environments import run_study
from wardround.learners.checkpoint import load_checkpoint
from wardround.records.run_lines import EndLine, RoundLine, RunLine, ScoreLine, StartLine, read_lines
from wardround.site.answers import read_runs

pytestmark = pytest.mark.e2e

TRAINING = ["hospital-a", "hospital-b", "hospital-c"]
EVERYONE = [*TRAINING, "hospital-d"]
BROKEN = "patient-0042"  # in the path that the failure's message names


@dataclass
class Run:
    out: Path
    workspace: Path
    lines: list[RunLine]
    heard: list[RunLine]
    hospitals: Path

    def of(self, kind: type) -> list:
        return [line for line in self.lines if isinstance(line, kind)]


@pytest.fixture(scope="module")
def run(hospitals: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Run:
    out = tmp_path_factory.mktemp("results") / "with a space"
    kept_workspace = tmp_path_factory.mktemp("workspace")
    heard: list[RunLine] = []
    kept = hospitals[2].parent / BROKEN / "tiny" / "kept"
    aside = kept.with_name("aside")

    def restore() -> None:
        """As soon as the hospital has failed: the next round may follow before the record's line is heard."""
        for _ in range(3000):
            if any(answer.error for each in read_runs(kept.parents[1]) for answer in each.answers):
                kept.unlink()
                aside.rename(kept)
                return
            time.sleep(0.02)

    watch = threading.Thread(target=restore)

    def on_line(line: RunLine) -> None:
        heard.append(line)
        if isinstance(line, StartLine):  # a file where a folder was: reading and writing entries both raise
            kept.rename(aside)
            kept.write_text("")
            watch.start()

    @contextlib.contextmanager
    def workspace() -> Iterator[Path]:
        yield kept_workspace

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulator, "workspace", workspace)
        record = run_study(
            Path("study"), tiny_study(), environment="sim", sites=hospitals, out=out, on_line=on_line, run_name="tiny"
        )
    watch.join()
    return Run(out, kept_workspace, read_lines(record), heard, hospitals[0].parents[1])


def test_the_record_is_complete_and_was_heard_while_it_grew(run: Run) -> None:
    assert run.heard == run.lines
    start, end = run.of(StartLine)[0], run.of(EndLine)[0]
    assert start.environment == "sim"
    assert [(site.site, site.role) for site in start.sites] == [
        *((site, "train") for site in TRAINING),
        ("hospital-d", "evaluate"),
    ]
    assert end.status == "complete"
    assert end.last_round == 3


def test_a_hospital_that_fails_in_one_round_is_a_code_in_the_record_and_takes_part_again(run: Run) -> None:
    rounds = run.of(RoundLine)
    assert rounds[0].failed == {"hospital-c": "site_failed"}
    assert rounds[0].contributed == ["hospital-a", "hospital-b"]
    assert rounds[-1].contributed == TRAINING
    weights = [entry.weight for entry in rounds[-1].sites.values()]
    assert weights == pytest.approx([1 / 3] * 3)
    assert set(rounds[0].sites) == {"hospital-a", "hospital-b"}


def test_the_words_of_the_failure_stay_at_the_hospital(run: Run) -> None:
    own = run.hospitals / "hospital-c" / BROKEN / "site.log"
    assert f"{BROKEN}/tiny/kept" in own.read_text()
    server = run.workspace / "sim" / "server"
    for folder in (server, run.out):
        for file in (path for path in folder.rglob("*") if path.is_file()):
            if file.parent != server / "local":  # the simulator copies the sites' configuration to the server, too
                assert BROKEN.encode() not in file.read_bytes(), file


def test_every_arm_is_scored_at_every_hospital(run: Run) -> None:
    arms = {(line.arm, line.split, line.site) for line in run.of(ScoreLine)}
    assert arms == {
        *((arm, "test", site) for arm in ("best", "last") for site in EVERYONE),
        *(("personalised", "test", site) for site in TRAINING),
        *(("last", "validation", site) for site in TRAINING),
    }
    notes = {line.site: line.notes for line in run.of(ScoreLine) if line.arm == "best"}
    assert notes["hospital-d"] == ["statistics_re_measured"]
    assert notes["hospital-a"] == []


def test_no_entry_that_hospitals_keep_is_at_the_server(run: Run) -> None:
    kept = set(run.of(StartLine)[0].sites[0].kept_local)
    assert any("running_mean" in name for name in kept)
    for name in ("best", "last"):
        checkpoint = load_checkpoint(run.out / "models" / name)
        assert not kept & set(checkpoint.tensors)
        assert not checkpoint.card.complete
    own = load_checkpoint(run.hospitals / "hospital-a" / "state" / "tiny" / "models" / "best")
    assert own.card.complete
    assert kept <= set(own.tensors)


def test_flares_own_figures_come_under_the_right_names(run: Run) -> None:
    flare = run.out / "flare"
    rounds = [json.loads(line) for line in (flare / "round_metrics.jsonl").read_text().splitlines()]
    assert [[site["name"] for site in entry["sites"]] for entry in rounds] == [
        line.contributed for line in run.of(RoundLine)
    ]
    summary = json.loads((flare / "metrics_summary.json").read_text())
    assert summary["best_round"] == run.of(EndLine)[0].best_round
    assert summary["key_metric"]["name"] == "dice_mean"
    cross = json.loads((flare / "cross_val_results.json").read_text())
    assert set(cross) == set(EVERYONE)
    assert {"best", "last", "personalised"} <= set(cross["hospital-a"])


def test_scores_by_case_and_pictures_are_at_the_hospital_alone(run: Run) -> None:
    own = run.hospitals / "hospital-b" / "state" / "tiny"
    cases = json.loads((own / "cases" / "best.test.json").read_text())
    assert len(cases) == 2
    assert list((own / "pictures").glob("*.png"))
    for file in (path for path in run.out.rglob("*") if path.is_file()):
        assert cases[0]["case"].encode() not in file.read_bytes(), file


def test_the_models_are_not_pickled(run: Run) -> None:
    assert {path.suffix for path in (run.out / "models").iterdir()} == {".safetensors", ".json"}
    assert not list(run.workspace.rglob("*.pt"))


def test_no_process_is_left(run: Run) -> None:
    assert run.lines
    assert left_over() == []


def test_ctrl_c_ends_every_process_and_keeps_the_record(hospitals: list[Path], tmp_path: Path) -> None:
    def interrupt(_line: RunLine) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_study(
            Path("study"), tiny_study(), environment="sim", sites=hospitals, out=tmp_path / "out", on_line=interrupt
        )
    assert left_over() == []
    assert isinstance(read_lines(tmp_path / "out" / "run.jsonl")[0], StartLine)
