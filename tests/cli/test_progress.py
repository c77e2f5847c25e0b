"""What is shown of a run's lines as they come."""

from io import StringIO
from pathlib import Path

from rich.console import Console

from support.made_run import TRAINING, whole_run
from wardround.cli.progress import RunProgress
from wardround.records.run_lines import ScoreLine
from wardround.records.study import load_study


def test_a_last_model_that_got_worse_is_told_with_its_site_as_its_scores_come() -> None:
    scored = [
        line for line in whole_run() if isinstance(line, ScoreLine) and (line.arm, line.split) == ("last", "validation")
    ]
    assert tuple(line.site for line in scored) == TRAINING
    worse = scored[1].model_copy(update={"notes": ["statistics_re_measured", "calibration_worse"]})
    shown = StringIO()
    progress = RunProgress(
        Console(file=shown, width=200), load_study(Path(__file__).parents[2] / "jobs" / "brain_tumor")
    )
    for line in (scored[0], worse, scored[2]):
        progress.on_line(line)
    told = [line.strip() for line in shown.getvalue().splitlines() if "worse" in line]
    assert told == [f"{TRAINING[1]}: probabilities on its validation cases got worse by more than chance explains"]
