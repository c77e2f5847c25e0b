"""A run in FLARE's simulator whose server closes a round while a site waits in it for its hours."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from e2e.conftest import left_over
from support.by_hand import assert_weights_by_hand, with_one_thread
from support.faulty_executor import use
from support.small_risk import risk_study
from support.waiting_executor import DEADLINE_SECONDS, SITE, WaitingExecutor
from wardround.flare.environments import run_study
from wardround.records.run_lines import RoundLine, RunLine, ScoreLine, read_lines
from wardround.site.answers import read_runs
from wardround.site.config import load_site_config
from wardround.workloads.clinical_risk.synth.writer import write_hospitals

pytestmark = pytest.mark.e2e

OTHERS = ["hospital-a", "hospital-b"]


def test_a_site_that_waits_in_a_round_that_is_closed_takes_the_next_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: Callable[[str, object], None]
) -> None:
    files = with_one_thread(write_hospitals(tmp_path / "sites", hospitals=3, rows=150, seed=2))
    study = risk_study(rounds=2)
    changes = {"grace_period_seconds": 4, "round_deadline_seconds": DEADLINE_SECONDS}
    federation = study.federation.model_copy(update=changes)
    evaluation = study.evaluation.model_copy(update={"personalise_steps": 0, "recalibrate": False})
    study = study.model_copy(update={"federation": federation, "evaluation": evaluation})
    use(monkeypatch, WaitingExecutor)
    out = tmp_path / "out"
    closed: list[datetime] = []

    def on_line(line: RunLine) -> None:
        if isinstance(line, RoundLine):
            closed.append(datetime.now(UTC))

    record = run_study(Path("study"), study, environment="sim", sites=files, out=out, on_line=on_line)

    lines = read_lines(record)
    rounds = [line for line in lines if isinstance(line, RoundLine)]
    assert rounds[0].late == [SITE]
    assert rounds[0].contributed == OTHERS
    assert_weights_by_hand(study, files, rounds, out / "models" / "last", tmp_path / "by hand")
    folder = load_site_config(next(file for file in files if file.parent.name == SITE)).state_folder
    assert "the round was closed while this site waited for its hours" in (folder / "site.log").read_text()
    _, waited, *after = read_runs(folder)[0].answers
    assert (waited.task, waited.round, waited.error) == ("train", 0, "late")
    assert after
    assert {answer.error for answer in after} == {""}  # each further order was done
    seconds = (datetime.fromisoformat(waited.time) - closed[0]).total_seconds()
    record_property("seconds_until_it_knew", round(seconds))
    scored = {line.site for line in lines if isinstance(line, ScoreLine) and (line.arm, line.split) == ("last", "test")}
    assert scored == {*OTHERS, SITE}
    assert left_over() == []
