"""What a run left behind whose command was killed: its processes are ended, and its results are fetched."""

import shutil
from pathlib import Path

from wardround.flare.login import close_session, open_session
from wardround.flare.marked_processes import MarkedProcesses, lives
from wardround.flare.session import fetch_ended, works
from wardround.flare.workspace import PREFIX, collect_results
from wardround.records.launch import Launch, note_launch, read_launch
from wardround.records.reasons import Reason, WardroundError


def recover(out: Path, kit: Path | None = None) -> Launch | None:
    """Leaves no process of the run's last start, and everything that it wrote in `out`.

    Args:
        out: the run's folder.
        kit: an admin's startup kit, to ask a server for a job that has ended.

    Returns:
        How the run was started last; None where the folder does not say.

    Raises:
        WardroundError: the run still goes on.
    """
    launch = read_launch(out)
    if launch is None:
        return None
    if lives(launch.process, launch.process_started):
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"{launch.original(out) or out}: this run still goes on, in process {launch.process}; wait for its end, "
            "or stop it with Ctrl-C",
        )
    if launch.environment != "prod":
        _recover_here(out, launch)
    elif kit is not None and launch.job is not None:
        _recover_from_server(out, launch.job, kit, launch.study)
    return launch


def _recover_here(out: Path, launch: Launch) -> None:
    original = launch.original(out)
    if original is not None:
        _refuse_anothers(out, launch, original)
    if launch.mark:
        MarkedProcesses(mark=launch.mark).end_all()
    if launch.run_folder and launch.run_folder.is_dir():
        collect_results(launch.run_folder, out)
    if launch.workspace and launch.workspace.name.startswith(PREFIX):
        shutil.rmtree(launch.workspace, ignore_errors=True)
    note_launch(out, process=None, process_started=None, mark=None, workspace=None, run_folder=None)


def _refuse_anothers(out: Path, launch: Launch, original: Path) -> None:
    """What a killed command left belongs to the folder that it was started with, and not to a copy of it."""
    working = bool(launch.mark and MarkedProcesses(mark=launch.mark).alive())
    if working or any(folder and folder.is_dir() for folder in (launch.workspace, launch.run_folder)):
        state = "its processes still work" if working else "its last rounds are not fetched yet"
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"{out}: a copy of {original}, whose command was killed: {state}; go on with "
            f"`wardround resume {original}`, or, to go on with the copy, end and move that run away first",
        )


def _recover_from_server(out: Path, job: str, kit: Path, study: str) -> None:
    session = open_session(kit, study=study)
    try:
        status = fetch_ended(session, job, out)
        if status.startswith("FINISHED"):
            note_launch(out, job=None)
            return
        if works(session, job):
            raise WardroundError(
                Reason.CONFIGURATION_INVALID,
                f"{out}: job {job} is {status} on the server; wait for its end, or abort it with "
                f"`nvflare job abort {job}`",
            )
    finally:
        close_session(session)
