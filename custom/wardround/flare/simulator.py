"""A study in FLARE's simulator: one server process and one process a site, on this machine."""

import sys
import time
from collections.abc import Callable
from pathlib import Path

from wardround.flare.continuation import Continuation
from wardround.flare.failure import cause_of, in_words
from wardround.flare.marked_processes import MarkedProcesses
from wardround.flare.policy import classes_of, write_resources
from wardround.flare.recipe import StudyRecipe
from wardround.flare.record import ANSWERS_FILE
from wardround.flare.tail import AnswersFile, Tail
from wardround.flare.workspace import (
    collect_results,
    collect_what_a_run_goes_on_from,
    site_environment,
    workspace,
)
from wardround.records.launch import note_launch
from wardround.records.reasons import Reason, WardroundError
from wardround.records.run_lines import EndLine, RunLine
from wardround.records.study import Study
from wardround.records.task_answers import TaskAnswers
from wardround.site.config import SiteConfig, resolved_yaml

_RUN = Path("server", "simulate_job")
_START_SECONDS = 120  # for FLARE's own processes, on a busy machine
# written by FLARE's widgets when the run ends; after them its simulator only waits (9 s) to tear down
_LAST_FILES = ("cross_site_val/cross_val_results.json", "metrics/metrics_summary.json")


def run_in_simulator(
    study: Study,
    configs: list[SiteConfig],
    *,
    run_name: str,
    out: Path,
    on_line: Callable[[RunLine], None],
    on_answers: Callable[[TaskAnswers], None] | None = None,
    continuation: Continuation | None = None,
) -> None:
    """Runs to the end. Results are under `out`, whatever happened; no process is left.

    The record and the checkpoints come into `out` while FLARE works, so that a killed command leaves them there.

    Raises:
        WardroundError: FLARE did not get as far as the first line of the record.
        KeyboardInterrupt: after all children are gone.
    """
    names = [config.name for config in configs]
    with workspace() as folder:
        recipe = StudyRecipe(study, sites=names, run_name=run_name, environment="sim", continuation=continuation)
        recipe.export(str(folder / "job"))
        root = folder / "sim"
        # the simulator gives the server and every site the same local folder
        write_resources(root / "local", (*classes_of("server"), *classes_of("site")))
        for config in configs:
            (root / "local" / f"site.{config.name}.yaml").write_text(resolved_yaml(config), encoding="utf-8")
        children = MarkedProcesses(site_environment(len(names)))
        command = [
            sys.executable,
            "-m",
            "nvflare.private.fed.app.simulator.simulator",
            str(folder / "job" / study.name),
        ]
        command += ["-w", str(root), "-c", ",".join(names), "-t", str(len(names))]
        known = continuation.lines if continuation else 0
        tail = Tail(lambda: root / _RUN / "metrics" / "run.jsonl", on_line, known)
        answers = AnswersFile(root / _RUN / ANSWERS_FILE, on_answers)
        note_launch(out, mark=children.mark, workspace=folder, run_folder=root / _RUN)
        try:
            main = children.start(command, out / "flare.log", folder=folder)
            give_up = time.monotonic() + study.federation.prepare_deadline_seconds + _START_SECONDS
            while main.poll() is None and not (tail.end and _settled(tail.end, root / _RUN)):
                tail.look()
                answers.look()
                collect_what_a_run_goes_on_from(root / _RUN, out)
                if tail.seen == known and time.monotonic() > give_up:
                    raise WardroundError(
                        Reason.FLARE_FAILED, "FLARE's simulator started nothing in time; see flare.log"
                    )
                time.sleep(0.2)
            tail.look()
            if tail.end is None:
                why = cause_of(out / "flare.log") or in_words(main.poll())
                raise WardroundError(Reason.FLARE_FAILED, f"FLARE ended the run early: {why}")
        finally:
            children.end_all()
            collect_results(root / _RUN, out)


def _settled(end: EndLine, run_folder: Path) -> bool:
    return end.status == "failed" or all((run_folder / name).is_file() for name in _LAST_FILES)
