"""`wardround report`: the page and the JSON from a run's record."""

from pathlib import Path
from typing import Annotated

import typer

from wardround.cli.console import results
from wardround.cli.tables import print_summary
from wardround.records.manifest import FILE_NAME


def report(
    run_folder: Annotated[Path, typer.Argument(help="A run's folder, which holds its run.jsonl.")],
    sites: Annotated[
        Path | None,
        typer.Option(help="Folder of site.yaml files: pictures of sites with synthetic: true go into the page."),
    ] = None,
) -> None:
    """Write report.html and report.json again from run.jsonl, and print the tables; add a missing manifest.json."""
    from wardround.cli.write_manifest import write_run_manifest
    from wardround.cli.write_report import write_report
    from wardround.site.config import load_site_config

    configs = []
    if sites is not None:
        from wardround.cli.sites import site_files

        configs = [load_site_config(file) for file in site_files(sites)]
    written = write_report(run_folder, configs)
    if not (run_folder / FILE_NAME).is_file():  # one that is there says what the models were when the run ended
        write_run_manifest(run_folder)
    print_summary(results(), written.summary)
    results().print(f"\nreport  {written.page}\nfigures {written.figures}", soft_wrap=True)
