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
    from wardround.flare.installation import install_folder

    source = settings.parent if settings and settings.is_file() else settings
    for file in install_folder(kit.resolve(), source, workspace=workspace, force=force):
        results().print(f"{file}", soft_wrap=True)
