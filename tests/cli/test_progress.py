"""What is shown of a run's lines as they come."""

from io import StringIO
from pathlib import Path

from rich.console import Console

from support.looks import a_look
from support.made_run import TRAINING, round_line, start, whole_run
from wardround.cli.progress import RunProgress
from wardround.records.run_lines import JoinLine, ResumeLine, RunLine, ScoreLine
from wardround.records.study import load_study
from wardround.records.task_answers import TaskAnswers


def _shown(lines: list[RunLine]) -> list[str]:
    shown = StringIO()
    study = load_study(Path(__file__).parents[2] / "jobs" / "brain_tumor")
    progress = RunProgress(Console(file=shown, width=200), study)
    for line in lines:
        progress.on_line(line)
    return [line.strip() for line in shown.getvalue().splitlines()]


def test_a_released_model_that_does_worse_at_a_hospital_is_told_before_the_first_round() -> None:
    start = whole_run()[0]
    looks = [
        a_look("brain_tumor", criteria=[{"metric": "dice_mean", "met": False}], inputs={"large": 1}),
        a_look("brain_tumor", criteria=[{"metric": "dice_mean", "met": True}], inputs={"stable": 4}),
        None,
        None,
    ]
    sites = [site.model_copy(update={"monitoring": look}) for site, look in zip(start.sites, looks, strict=True)]
    told = (
        f"{TRAINING[0]}: released model v2 on 53 cases of 40 patients, 2030-01-31; "
        "no longer met: Dice, mean of regions; inputs: 1 moved much"
    )
    joined = JoinLine(round=2, manifest=sites[0])
    resumed = ResumeLine(time="2026-01-01T13:00:00+00:00", round=1, because="stopped", sites=sites)
    for line in (start.model_copy(update={"sites": sites}), joined, resumed):
        assert [text for text in _shown([line]) if "released model" in text] == [told]


def test_a_last_model_that_got_worse_is_told_with_its_site_as_its_scores_come() -> None:
    scored = [
        line for line in whole_run() if isinstance(line, ScoreLine) and (line.arm, line.split) == ("last", "validation")
    ]
    assert tuple(line.site for line in scored) == TRAINING
    worse = scored[1].model_copy(update={"notes": ["statistics_re_measured", "calibration_worse"]})
    told = [text for text in _shown([scored[0], worse, scored[2]]) if "worse" in text]
    assert told == [f"{TRAINING[1]}: probabilities on its validation cases got worse by more than chance explains"]


def test_who_is_waited_for_is_told_until_the_first_round_is_done() -> None:
    shown = StringIO()
    progress = RunProgress(
        Console(file=shown, width=200), load_study(Path(__file__).parents[2] / "jobs" / "brain_tumor")
    )

    def told(task: str, round_index: int, answered: int) -> str:
        before = len(shown.getvalue())
        progress.on_answers(TaskAnswers(task=task, round=round_index, asked=TRAINING, answered=TRAINING[:answered]))
        return shown.getvalue()[before:].strip()

    assert told("prepare", 0, 0) == "hospitals open their data: waiting for hospital-a, hospital-b, hospital-c"
    assert told("prepare", 0, 2) == "hospitals open their data: 2 of 3 have answered, waiting for hospital-c"
    progress.on_line(start())
    assert told("prepare", 0, 3) == ""  # the record's own line came first
    assert told("train", 0, 1) == "round 1 is training: 1 of 3 have answered, waiting for hospital-b, hospital-c"
    progress.on_line(round_line(0))
    assert told("train", 0, 3) == told("train", 1, 1) == told("validate", 0, 1) == ""
