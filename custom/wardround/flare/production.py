"""A study on the hospitals' own running sites."""

from collections.abc import Callable
from pathlib import Path

from wardround.flare.continuation import Continuation
from wardround.flare.session import run_through_session
from wardround.records.run_lines import RunLine
from wardround.records.study import Study
from wardround.records.task_answers import TaskAnswers


def run_in_production(
    study: Study,
    kit: Path,
    *,
    run_name: str,
    out: Path,
    on_line: Callable[[RunLine], None],
    on_wait: Callable[[str], None] | None = None,
    on_answers: Callable[[TaskAnswers], None] | None = None,
    continuation: Continuation | None = None,
) -> None:
    """Submits with the admin's startup kit. Each hospital has its own site.yaml; the enrolled and connected take part,
    and where a run goes on, its own alone.

    Raises:
        WardroundError: no session, or FLARE did not run the job.
    """
    run_through_session(
        study,
        kit,
        sites=continuation.sites if continuation else [],
        run_name=run_name,
        environment="prod",
        out=out,
        on_line=on_line,
        on_wait=on_wait,
        on_answers=on_answers,
        enrolled=True,
        continuation=continuation,
    )
