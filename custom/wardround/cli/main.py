"""The command `wardround`. Each command is a file; torch, MONAI and FLARE load only inside the one that needs them."""

import logging
import os
from typing import Annotated

import typer

from wardround.cli import export, model, release, report, resume, run, runs, site, synth
from wardround.cli.errors import DEBUG_VARIABLE, ErrorGroup

app = typer.Typer(
    cls=ErrorGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,  # locals can hold patients' file names
    help="Federated learning across hospitals on NVIDIA FLARE, with every figure by site.",
)
app.add_typer(synth.app, name="synth")
app.add_typer(site.app, name="site")
app.command()(run.run)
app.command()(resume.resume)
app.command()(export.export)
app.command()(model.predict)
app.command()(model.adapt)
app.command(name="export-bundle")(model.export_bundle)
app.command()(report.report)
app.add_typer(runs.app, name="runs")
app.add_typer(release.app, name="release")
app.command()(release.rollback)


@app.callback()
def settings(
    debug: Annotated[
        bool, typer.Option("--debug", help=f"Show tracebacks and details ({DEBUG_VARIABLE}=1 does so too).")
    ] = False,
) -> None:
    """Settings of every command."""
    if debug:
        os.environ[DEBUG_VARIABLE] = "1"
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s: %(message)s")


if __name__ == "__main__":
    app()
