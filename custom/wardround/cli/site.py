"""`wardround site`: what a site's admin, or a server's, does with a FLARE startup kit."""

from pathlib import Path
from typing import Annotated

import typer

from wardround.cli.console import results

app = typer.Typer(help="Set up a FLARE startup kit.", no_args_is_help=True)


@app.callback()
def site() -> None:
    """Set up a FLARE startup kit."""


@app.command()
def install(
    kit: Annotated[Path, typer.Argument(help="The startup kit: a folder with startup/ and local/ in it.")],
    settings: Annotated[
        Path | None, typer.Option("--site", help="The hospital's site.yaml; leave out for a server.")
    ] = None,
) -> None:
    """Say which classes a job may build there, turn log streaming off, and put the site.yaml in place.

    Without this FLARE refuses every wardround job, and sends the site's error log to the server.
    """
    from wardround.flare.kit import install as install_into
    from wardround.site.config import load_site_config

    for file in install_into(kit.resolve(), load_site_config(settings) if settings else None):
        results().print(f"{file}", soft_wrap=True)
