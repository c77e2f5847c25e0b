"""`wardround run`: a study in FLARE's simulator, in POC mode, or on a production server."""

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wardround.cli.console import progress, results
from wardround.cli.errors import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_PARTIAL, debugging, tell
from wardround.cli.next_steps import next_line
from wardround.cli.options import Overrides, StudyFolder
from wardround.cli.progress import RunProgress
from wardround.cli.run_options import RunOptions
from wardround.cli.sites import sites_folder
from wardround.cli.study_run import FederationFailedError, results_folder, run_whole_study
from wardround.cli.tables import print_summary
from wardround.cli.write_report import RECORD, Report, write_report
from wardround.records.reasons import WardroundError
from wardround.records.run_lines import Environment
from wardround.records.study import Study, load_study

if TYPE_CHECKING:
    from wardround.flare.continuation import Continuation

_STANDARD_ERROR = 2  # written to directly: a handler may interrupt a print
_REQUESTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_EXIT_CODES = {"complete": 0, "partial": EXIT_PARTIAL}


def run(
    study: StudyFolder,
    env: Annotated[Environment, typer.Option(help="FLARE's simulator, POC mode, or a production server.")] = "sim",
    sites: Annotated[
        Path | None,
        typer.Option(
            help="Folder with one folder a hospital, each with its site.yaml.",
            show_default="site_configs/<name of the study>, or else site_configs",
        ),
    ] = None,
    overrides: Overrides = None,
    sweep: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=V1,V2", help="Run a grid, compared on validation scores. Repeatable."),
    ] = None,
    baselines: Annotated[
        bool, typer.Option("--baselines/--no-baselines", help="Also train each hospital alone, and on pooled data.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Results; results/<study>/<time> by default.")] = None,
    kit: Annotated[Path | None, typer.Option(help="The admin's startup kit, for --env prod.")] = None,
) -> None:
    """Run a study, then print and write what each hospital gained.

    Exit code: 0 complete, 1 failed, 2 something does not fit, 3 partial, 130 interrupted.
    """
    settings = load_study(study, tuple(overrides or ()))
    options = RunOptions(study, env, sites or sites_folder(settings), out or results_folder(settings), baselines, kit)
    with stoppable():
        if sweep:
            from wardround.cli.sweep import run_sweep

            run_sweep(settings, options, sweep)
            return
        report = run_and_report(settings, options)
    finish(report, options)


def finish(report: Report, options: RunOptions) -> None:
    """Prints the tables and leaves with the exit code that the run's end asks for."""
    console = results()
    print_summary(console, report.summary)
    console.print(f"\nreport  {report.page}\nfigures {report.figures}", soft_wrap=True)
    if line := next_line(options.out, summary=report.summary, baselines=options.baselines):
        console.print(line, soft_wrap=True, markup=False)
    code = _EXIT_CODES.get(report.summary.ending.status, EXIT_FAILED)
    if code:
        raise typer.Exit(code)


def run_and_report(settings: Study, options: RunOptions, continuation: "Continuation | None" = None) -> Report:
    """Runs a study, or goes on with a run; where that fails or is stopped, says what there is and leaves."""
    with RunProgress(progress(), settings) as shown:
        try:
            return run_whole_study(settings, options, shown, continuation)
        except FederationFailedError as error:
            if debugging():
                raise
            tell(error)
            _report_what_there_is(options.out)
            raise typer.Exit(EXIT_FAILED) from None
        except KeyboardInterrupt:
            _tell_what_was_kept(options, shown)
            raise typer.Exit(EXIT_INTERRUPTED) from None


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """Any request to stop ends the command as Ctrl-C does, so that no FLARE process outlives it, and is answered.

    A closed terminal asks too. A request that the caller has told us to ignore (nohup) stays ignored.
    """

    def stop(*_: object) -> None:
        with contextlib.suppress(OSError):  # the terminal may be gone
            os.write(_STANDARD_ERROR, b"stopping, a few seconds\n")
        raise KeyboardInterrupt

    heeded = [number for number in _REQUESTS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, stop) for number in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _report_what_there_is(out: Path) -> None:
    """A run that failed late still has rounds to look at."""
    if not (out / RECORD).is_file():
        progress().print("no report: the sites had not agreed on the run yet")
        return
    try:
        progress().print(f"what there is: {write_report(out).page}", soft_wrap=True)
    except (WardroundError, OSError) as error:
        progress().print(f"no report: {error}", soft_wrap=True, markup=False)


def _tell_what_was_kept(options: RunOptions, shown: RunProgress) -> None:
    console, out = progress(), options.out
    console.print(f"[yellow]Stopped after {shown.rounds_done} rounds.[/]", soft_wrap=True)
    _report_what_there_is(out)
    kept = ", ".join(file.name for file in sorted(out.glob("*"))) if out.is_dir() else ""
    console.print(f"kept in {out}: {kept or 'nothing'}", soft_wrap=True)
    if line := next_line(out, baselines=options.baselines):
        console.print(line, soft_wrap=True, markup=False)
