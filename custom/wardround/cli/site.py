"""`wardround site`: what a site's admin, or a server's, does with a FLARE startup kit."""

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from wardround.cli.console import progress, results
from wardround.cli.errors import EXIT_FAILED
from wardround.cli.output_file import PAGE, check_output_file
from wardround.cli.reading_progress import ReadingProgress
from wardround.cli.site_consent import approve, revoke
from wardround.cli.site_init import init
from wardround.cli.site_inspect import Format, inspect
from wardround.cli.site_monitor import monitor
from wardround.cli.site_outbox import outbox
from wardround.cli.status_lines import status_lines
from wardround.records.files import write_whole

_COLORS = {"ok": "green", "warning": "yellow", "failed": "bold red", "skipped": "dim"}
_WIDTH = len("data for clinical_risk")  # of what was looked at: lines are told before all are known


app = typer.Typer(help="A hospital's own folder and startup kit: make, inspect, install, watch.", no_args_is_help=True)
app.command()(init)
app.command()(outbox)
app.command()(inspect)
app.command()(approve)
app.command()(revoke)
app.command()(monitor)


@app.callback()
def site() -> None:
    """A hospital's own folder and startup kit: make, inspect, install, watch."""


@app.command()
def install(
    kit: Annotated[Path, typer.Argument(help="The startup kit: a folder with startup/ and local/ in it.")],
    settings: Annotated[
        Path | None,
        typer.Option("--site", help="The hospital's folder with its site.yaml; may be left out for a server."),
    ] = None,
    workspace: Annotated[
        Path | None, typer.Option(help="Where the kit will lie when it runs, if elsewhere than now (server).")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace files edited in the kit (each is kept beside) and accept the kit.")
    ] = False,
) -> None:
    """Put what the hospital's admin decides into a startup kit; after `nvflare deploy prepare`, if that is used.

    Without this FLARE refuses every wardround job, and sends the site's error log to the server. May be repeated.
    """
    from wardround.flare.install import install_folder

    source = settings.parent if settings and settings.is_file() else settings
    for file in install_folder(kit.resolve(), source, workspace=workspace, force=force):
        results().print(f"{file}", soft_wrap=True)


@app.command()
def preflight(
    kit: Annotated[Path, typer.Argument(help="The startup kit of a site or server.")],
    studies: Annotated[
        list[Path] | None,
        typer.Option("--study", help="A study whose data to inspect; by default each of jobs/ that site.yaml names."),
    ] = None,
    output: Annotated[Format, typer.Option("--format", help="text or json.")] = Format.TEXT,
) -> None:
    """Say in one line each whether the site can start: certificate, files, server, versions, machine, data, clock.

    Each line is told as soon as it is known; the data, which may take minutes, come last.

    Exit code 1: something failed.
    """
    from wardround.flare.preflight import preflight as look

    findings = []
    with ReadingProgress(progress()) as reading:
        for finding in look(kit, studies or None, progress=reading):
            findings.append(finding)
            if output is Format.TEXT:
                line = Text.assemble(
                    (f"{finding.status:<9}", _COLORS[finding.status]), f"{finding.name:<{_WIDTH}}  {finding.text}"
                )
                results().print(line, soft_wrap=True)
    if output is Format.JSON:
        typer.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
    if any(finding.status == "failed" for finding in findings):
        raise typer.Exit(EXIT_FAILED)


@app.command()
def status(
    kit: Annotated[Path, typer.Argument(help="The site's startup kit.")],
    html: Annotated[Path | None, typer.Option(help="Also write it as a page, which needs nothing else.")] = None,
) -> None:
    """Show the site's own view: connection, certificate, consents, the last look at its data, jobs and its metrics.

    A line says `consent` for each study that somebody approved or revoked here, with who and when. Jobs stand with the
    site's own metrics by round. All is read from the site's own folders, whether it runs or not.
    """
    from wardround.flare.site_status import site_status
    from wardround.reporting.status_page import render_status

    check_output_file(html, "--html", PAGE)
    found = site_status(kit)
    console = results()
    for line in status_lines(found):
        console.print(line, soft_wrap=True, markup=False)
    if html:
        write_whole(html, render_status(found, datetime.now(UTC).isoformat(timespec="seconds")).encode(), private=True)
        console.print(f"{html}", soft_wrap=True, markup=False)
