"""A study on a running FLARE system, POC or production, through an admin's session: submit, watch, fetch."""

import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from nvflare.fuel.flare_api.api_spec import JobNotRunning
from nvflare.fuel.flare_api.flare_api import Session

from wardround.flare.continuation import Continuation
from wardround.flare.failure import mask_paths
from wardround.flare.follower import Follower
from wardround.flare.job_waiting import Waiting, reason_may_follow, why_ended
from wardround.flare.login import advice_on, close_session, open_session
from wardround.flare.recipe import StudyRecipe
from wardround.flare.workspace import collect_results, collect_what_a_run_goes_on_from, workspace
from wardround.records.launch import note_launch
from wardround.records.reasons import Reason, WardroundError
from wardround.records.run_lines import RunLine, read_lines
from wardround.records.study import Study
from wardround.records.task_answers import TaskAnswers

_POLL_SECONDS = 1.0
_LOST_SECONDS = 60.0
_ABORT_SECONDS = 20.0
_FAILED_POLLS = 60  # in a row; a server that restarts is back by then


def run_through_session(
    study: Study,
    kit: Path,
    *,
    sites: list[str],
    run_name: str,
    environment: str,
    out: Path,
    on_line: Callable[[RunLine], None],
    on_wait: Callable[[str], None] | None = None,
    on_answers: Callable[[TaskAnswers], None] | None = None,
    enrolled: bool = False,
    continuation: Continuation | None = None,
    run_folder: Callable[[str], Path] | None = None,
) -> None:
    """Submits the study's job, hands over its record as it grows, and fetches the results into `out`.

    The record's newest lines come through FLARE's `show_stats`, which a lead may use where job logs are refused.

    Args:
        kit: an admin's startup kit: the folder that holds `startup/`.
        on_wait: gets each new reason why the job waits for its start, in one line.
        on_answers: gets who has answered the newest order, whenever that has changed.
        enrolled: the server knows the study by its name, so the job reaches its sites alone and gets their images.
        run_folder: where a job's results grow, if the server is on this machine.

    Raises:
        WardroundError: no connection, or FLARE did not run the job.
        KeyboardInterrupt: after the job is aborted, and what it left is fetched where that goes quickly.
    """

    def collect(job: str) -> None:
        if run_folder is not None:
            collect_what_a_run_goes_on_from(run_folder(job), out)

    session = open_session(kit, study=study.name if enrolled else None)
    try:
        with _quiet(), workspace() as folder:
            recipe = StudyRecipe(
                study, sites=sites, run_name=run_name, environment=environment, continuation=continuation
            )
            recipe.export(str(folder / "job"))
            job = str(_asked("submit the job", session.submit_job, str(folder / "job" / study.name)))
            note_launch(out, job=job, run_folder=run_folder(job) if run_folder else None)
            follower = Follower(on_line, known=continuation.lines if continuation else 0, on_answers=on_answers)
            waiting = Waiting(on_wait)
            try:
                ended = _follow(session, job, follower, waiting, lambda: collect(job))
            except BaseException:
                collect(job)
                if waiting.over:
                    _note(out / "flare.log", f"job {job}: began, and was not followed to its end")
                with contextlib.suppress(Exception):
                    session.abort_job(job)
                    fetch_ended(session, job, out, _ABORT_SECONDS)
                raise
            status = f"{ended['status']}{why_ended(ended)}"
            _note(out / "flare.log", f"job {job}: {status}")
            try:
                _fetch(session, job, out)
            except WardroundError as error:  # of a job that no site took there may be none
                raise WardroundError(error.code, f"FLARE ended the job as {status}; {error}") from error
            record = out / "run.jsonl"
            if record.is_file():
                follower.rest(read_lines(record))
            else:
                raise WardroundError(Reason.FLARE_FAILED, f"FLARE ended the job before it began: {status}")
    finally:
        close_session(session)


def fetch_ended(session: Session, job: str, out: Path, patience: float = 0.0) -> str:
    """Fetches the results of a job that has ended, or ends within `patience` seconds, into `out`.

    Returns:
        FLARE's status of the job; nothing is fetched where that says that it has not ended.

    Raises:
        WardroundError: FLARE does not know the job, or does not hand out its result.
    """
    deadline = time.monotonic() + patience
    while True:
        status = str(_asked(f"look at job {job}", session.get_job_meta, job).get("status"))
        if status.startswith("FINISHED"):
            break
        if time.monotonic() > deadline:
            return status
        time.sleep(_POLL_SECONDS)
    _fetch(session, job, out)
    return status


def works(session: Session, job: str) -> bool:
    """Whether the server really runs a job that it lists as RUNNING: after a server has died, it does not."""
    try:
        session.show_stats(job, "server")
    except JobNotRunning:
        return False
    except Exception:  # a server that is busy, or away for a moment, says nothing about the job
        return True
    return True


def _fetch(session: Session, job: str, out: Path) -> None:
    with workspace() as folder:
        result = _asked("download the result", session.download_job_result, job, str(folder / "result"))
        fetched = Path(result) / "workspace"
        if (fetched / "log.txt").is_file():
            _note(out / "flare.log", (fetched / "log.txt").read_text(encoding="utf-8", errors="replace"))
        collect_results(fetched, out)


def _follow(
    session: Session, job: str, follower: Follower, waiting: Waiting, collect: Callable[[], None]
) -> dict[str, Any]:
    """What the server says of the job once it has ended."""
    failed = 0
    lost_since: float | None = None
    asked_again = False
    while True:
        collect()
        try:
            meta = dict(_asked(f"look at job {job}", session.get_job_meta, job))
        except WardroundError as error:
            failed += 1
            if failed >= _FAILED_POLLS:
                raise WardroundError(
                    error.code,
                    f"{error}, {failed} times in a row; once the server runs again, `nvflare job list` tells what "
                    "became of the job: fetch its result with `nvflare job download`, or submit it again",
                ) from error
            time.sleep(_POLL_SECONDS)
            continue
        failed = 0
        status = str(meta.get("status"))
        if reason_may_follow(meta) and not asked_again:
            asked_again = True
        elif status.startswith("FINISHED"):
            return meta
        if status == "SUBMITTED":
            waiting.look(meta)
        else:
            waiting.over = True
        if status == "RUNNING":
            stats, lost = None, False
            try:
                stats = session.show_stats(job, "server")
            except JobNotRunning:  # at its start and its end for a moment; after the server has died, for ever
                lost = True
            except Exception:  # noqa: S110  no stats yet, or no longer: the result has everything
                pass
            follower.look(stats)
            lost_since = (lost_since or time.monotonic()) if lost else None
            if lost_since is not None and time.monotonic() - lost_since > _LOST_SECONDS:
                raise WardroundError(
                    Reason.FLARE_FAILED,
                    f"the server lists job {job} as running and does not run it: it died and was started again, and "
                    f"FLARE takes up no job. What the job left is in the server's folder under {job}/checkpoint",
                )
        time.sleep(_POLL_SECONDS)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Python prints warnings of a program that set up no logging; of a server that is away FLARE has several a second,
    and what matters of them is told as an error."""
    handler = logging.NullHandler()
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)


def _asked(what: str, call: Callable[..., Any], *arguments: Any) -> Any:
    """What FLARE answers. It raises classes of many kinds, whose texts hold paths."""
    try:
        return call(*arguments)
    except Exception as error:
        cause = mask_paths(str(error)) or type(error).__name__
        raise WardroundError(Reason.FLARE_FAILED, f"FLARE did not {what}: {cause}{advice_on(cause)}") from error


def _note(log: Path, text: str) -> None:
    with log.open("a", encoding="utf-8") as stream:
        stream.write(text + "\n")
