"""`wardround resume`: a run that was stopped goes on from its newest checkpoint, in a new FLARE job."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wardround.cli.console import progress
from wardround.cli.progress import RunProgress
from wardround.cli.run import finish, run_and_report, stoppable
from wardround.cli.run_options import RunOptions
from wardround.cli.sites import site_files
from wardround.cli.study_run import conclude_run
from wardround.cli.write_report import RECORD, Report
from wardround.records.launch import Launch, read_launch
from wardround.records.reasons import Reason, WardroundError
from wardround.records.run_lines import EndLine, StartLine, read_lines
from wardround.records.server_state import FOLDER, ServerState, refuse_other_study
from wardround.records.study import Study, override

if TYPE_CHECKING:
    from wardround.flare.continuation import Continuation


def resume(
    run: Annotated[Path, typer.Argument(help="The run's folder: --out of `wardround run`.", metavar="RUN")],
    sites: Annotated[
        Path | None,
        typer.Option(help="Folder with one folder a hospital.", show_default="the sites that the run began with"),
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option(metavar="SITE", help="Go on without this hospital. Repeatable.")
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Override a setting of `federation`, such as federation.quorum=4; the rest of the study stays. "
            "Repeatable.",
        ),
    ] = None,
    kit: Annotated[
        Path | None, typer.Option(help="In production, the admin's startup kit.", show_default="as in the run")
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="A copy of the job's folder at a server that has died, or of the checkpoint/ in it.",
            show_default="RUN/checkpoint",
        ),
    ] = None,
    after_round: Annotated[
        int | None,
        typer.Option(help="Go on from an older checkpoint, after so many rounds.", show_default="the newest"),
    ] = None,
    baselines: Annotated[
        bool, typer.Option("--baselines/--no-baselines", help="Also train each hospital alone, and on pooled data.")
    ] = False,
) -> None:
    """Go on with a run that was stopped, failed or ended partial, from its newest checkpoint.

    It goes on in the same environment and folder, under the same name at the hospitals. Of the study only federation.*
    can change with --set. On CPUs the result is, bit for bit, that of a run that was
    never stopped, if the same hospitals take part.

    Exit code: 0 complete, 1 failed, 2 something does not fit, 3 partial, 130 interrupted.
    """
    from wardround.flare.recovery import recover

    with stoppable():
        known = _end(run)
        launch = recover(run, kit or _kit_of(run))
        kit = kit or (launch.kit if launch else None)
        environment = launch.environment if launch else "prod"
        if environment == "prod" and kit is None:
            raise WardroundError(
                Reason.ENVIRONMENT_INVALID, f"{run}: `wardround run` did not start this run here; name the --kit"
            )
        files = site_files(sites) if sites else list(launch.sites) if launch else []
        options = RunOptions(run, environment, sites or run, run, baselines, kit, _present(files, without or []))
        end = _end(run)
        if known is None and end is not None and end.status == "complete":
            finish(_conclude(options), options)
            return
        _refuse_complete(run, end)
        continuation = _continuation(run, launch, checkpoint, after_round, tuple(without or ()))
        study = override(continuation.state.settled_study(), tuple(overrides or ()))
        refuse_other_study(continuation.state, study)
        _keep_earlier(run)
        report = run_and_report(study, options, continuation)
    finish(report, options)


def _kit_of(run: Path) -> Path | None:
    launch = read_launch(run)
    return launch.kit if launch else None


def _record(run: Path) -> Path | None:
    """In a run's folder, or in a job's result as FLARE hands it out."""
    return next((file for file in (run / RECORD, run / "metrics" / RECORD) if file.is_file()), None)


def _end(run: Path) -> EndLine | None:
    record = _record(run)
    lines = read_lines(record) if record else []
    return next((line for line in reversed(lines) if isinstance(line, EndLine)), None)


def _conclude(options: RunOptions) -> Report:
    """FLARE's processes outlived the command that was killed, and went on to the end."""
    lines = read_lines(options.out / RECORD)
    study = Study.model_validate(next(line.study for line in lines if isinstance(line, StartLine)))
    shutil.rmtree(options.out / FOLDER, ignore_errors=True)
    with RunProgress(progress(), study) as shown:
        shown.phase("the run had gone on to its end without its command: nothing is trained again")
        return conclude_run(study, options, shown)


def _refuse_complete(run: Path, end: EndLine | None) -> None:
    if end is not None and end.status == "complete":
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"{run}: this run is complete, so there is nothing to go on with; more rounds have another schedule and so "
            "make another study: start a new run",
        )


def _because(run: Path) -> str:
    end = _end(run)
    if end is None:
        return "it was stopped"
    return f"it failed: {end.reasons[0]}" if end.status == "failed" else "it ended partial"


def _continuation(
    run: Path, launch: Launch | None, folder: Path | None, after_round: int | None, without: tuple[str, ...]
) -> "Continuation":
    from wardround.flare.continuation import Continuation
    from wardround.flare.server_checkpoint import load_server_checkpoint

    chosen = folder or run / FOLDER
    if (chosen / FOLDER).is_dir():
        chosen = chosen / FOLDER
    if not chosen.is_dir():
        raise WardroundError(
            Reason.DATA_MISSING,
            f"{chosen}: missing, so there is no checkpoint to go on from; in production, name with --checkpoint a copy "
            "of the job's folder at the server" + (f", {launch.job}" if launch and launch.job else ""),
        )
    found = load_server_checkpoint(chosen, after_round)
    if launch is not None and launch.run != found.state.run:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID, f"{chosen}: of run {found.state.run}, and {run} holds run {launch.run}"
        )
    _refuse_strangers(found.state, without)
    return Continuation(chosen, found.state, len(found.lines), tuple(sorted(set(without))), _because(run))


def _refuse_strangers(state: ServerState, without: tuple[str, ...]) -> None:
    known = sorted({*(manifest.site for manifest in state.manifests), *state.missing})
    for site in without:
        if site not in known:
            raise WardroundError(
                Reason.CONFIGURATION_INVALID, f"--without {site}: not in this run, which has {', '.join(known)}"
            )
    outside = {manifest.site for manifest in state.manifests if manifest.role == "evaluate"}
    if without and not set(known) - outside - set(without):
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"--without {', '.join(sorted(set(without)))}: leaves no hospital that trains; of "
            f"{', '.join(sorted(set(known) - outside))} one must stay",
        )


def _present(files: list[Path], without: list[str]) -> tuple[Path, ...]:
    from wardround.site.config import load_site_config

    return tuple(file for file in files if load_site_config(file).name not in without)


def _keep_earlier(run: Path) -> None:
    """What the job that went before has written and the next one writes anew."""
    kept = [run / RECORD, run / "flare", run / "report.html", run / "report.json", run / "manifest.json"]
    if not any(path.exists() for path in kept):
        return
    number = 1
    while (folder := run / f"before-resume-{number}").exists():
        number += 1
    folder.mkdir()
    for path in kept:
        if path.is_dir():
            shutil.copytree(path, folder / path.name)
        elif path.is_file():
            shutil.copyfile(path, folder / path.name)
