"""A hospital whose line to the server is cut for a minute while its weights are on their way."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from e2e.production.conftest import BEHIND_A_LINK, TINY
from support.by_hand import assert_weights_by_hand
from support.interrupted import end_of, rounds_of
from support.production import LEAD, SITES, Consortium
from support.provisioned import ROOT
from wardround.flare.recipe import StudyRecipe
from wardround.flare.record import ANSWERS_FILE
from wardround.records.run_lines import EndLine, RoundLine, read_lines
from wardround.records.study import Study, load_study
from wardround.records.task_answers import TaskAnswers

pytestmark = pytest.mark.e2e

CUT_SECONDS, GRACE_SECONDS = 60, 20
WEIGHTS_BYTES = 6000  # of this network's in one message; the questions and figures of a site are shorter
SETTINGS = (
    *TINY["clinical_risk"],
    "training.rounds=16",
    "evaluation.recalibrate=false",
    "federation.quorum=2",
    f"federation.grace_period_seconds={GRACE_SECONDS}",
)


@dataclass
class Run:
    study: Study
    out: Path
    seconds_until_back: float

    @property
    def rounds(self) -> list[RoundLine]:
        return rounds_of(self.out)

    @property
    def end(self) -> EndLine:
        return end_of(self.out)


@pytest.fixture(scope="module")
def run(consortium: Consortium) -> Run:
    """Cut once two rounds are done, where FLARE waits longest. Its client and its job process both lose the server."""
    study, job, link = load_study(ROOT / "jobs" / "clinical_risk", SETTINGS), consortium.folder / "cut", consortium.link
    assert link is not None
    StudyRecipe(study, environment="prod").export(str(job))  # past the commands, which take no quorum of two
    with consortium.session(LEAD, "clinical_risk") as session:
        job_id = session.submit_job(str(job / study.name))
    folder = consortium.kit("server") / job_id
    consortium.wait_for(lambda: len(_rounds(folder)) >= 2, 120, "two rounds")
    link.cut_at(WEIGHTS_BYTES)
    consortium.wait_for(lambda: link.is_cut, 30, "weights on their way")
    cut_in = _answers(folder).round  # there it may be last without the cut: it must be waited for in a later one
    since = time.monotonic()
    consortium.wait_for(lambda: _is_missed(_answers(folder), cut_in), CUT_SECONDS, f"it to wait for {BEHIND_A_LINK}")
    time.sleep(max(0.0, since + CUT_SECONDS - time.monotonic()))
    link.mend()
    consortium.wait_for(lambda: _is_back(folder), 240, f"{BEHIND_A_LINK} to contribute again")
    seconds = time.monotonic() - since
    consortium.ended(job_id, "clinical_risk")
    target = consortium.folder / "results of the cut"
    consortium.nvflare(LEAD, "job", "download", job_id, "-o", str(target), "--study", "clinical_risk")
    (record,) = target.rglob("run.jsonl")
    return Run(study, record.parent, seconds)


def test_the_run_goes_on_without_the_hospital_and_names_it(run: Run) -> None:
    late = [line for line in run.rounds if line.late]
    assert len(late) >= 2
    for line in late:
        assert line.late == [BEHIND_A_LINK]
        assert BEHIND_A_LINK not in line.contributed
    assert (run.end.status, run.end.reasons) == ("complete", [])


def test_it_counts_again_once_it_is_back(run: Run, record_property: Callable[[str, object], None]) -> None:
    record_property("seconds_until_back", round(run.seconds_until_back))
    last_late = max(line.round for line in run.rounds if line.late)
    after = [line.contributed for line in run.rounds if line.round > last_late]
    assert after
    assert all(contributed == list(SITES) for contributed in after)


def test_the_weights_are_those_of_the_same_participation_without_a_cut(
    consortium: Consortium, run: Run, tmp_path: Path
) -> None:
    files = [consortium.settings(site) / "site.yaml" for site in SITES]
    assert_weights_by_hand(run.study, files, run.rounds, run.out.parent / "models" / "last", tmp_path)


def _rounds(folder: Path) -> list[RoundLine]:
    return [line for file in folder.rglob("run.jsonl") for line in read_lines(file) if isinstance(line, RoundLine)]


def _answers(folder: Path) -> TaskAnswers:
    """Whom the server says that it waits for, as the lead's live line does."""
    (file,) = folder.rglob(ANSWERS_FILE)
    return TaskAnswers.model_validate_json(file.read_bytes())


def _is_missed(answers: TaskAnswers, cut_in: int) -> bool:
    return answers.round > cut_in and answers.awaited == [BEHIND_A_LINK]


def _is_back(folder: Path) -> bool:
    rounds = _rounds(folder)
    return any(line.late for line in rounds) and BEHIND_A_LINK in rounds[-1].contributed
