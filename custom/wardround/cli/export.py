"""`wardround export`: the study as a FLARE job folder."""

from pathlib import Path
from typing import Annotated

import typer

from wardround.cli.console import results
from wardround.cli.options import Overrides, StudyFolder


def export(
    study: StudyFolder,
    folder: Annotated[Path, typer.Argument(help="Where the job folder is written.")],
    overrides: Overrides = None,
) -> None:
    """Write the FLARE job, which `nvflare job submit` takes. It holds configuration and no code."""
    from wardround.flare.environments import export_job
    from wardround.records.study import load_study

    job = export_job(study, load_study(study, tuple(overrides or ())), folder)
    results().print(f"{job}", soft_wrap=True)
