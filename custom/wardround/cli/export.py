"""`wardround export`: the study as a FLARE job folder."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from wardround.cli.console import progress, results
from wardround.cli.options import Overrides, StudyFolder
from wardround.records.reasons import WardroundError


def export(
    study: StudyFolder,
    folder: Annotated[Path, typer.Argument(help="Where the job folder is written.")],
    overrides: Overrides = None,
) -> None:
    """Write the FLARE job, which `nvflare job submit` takes. It holds configuration and no code."""
    from wardround.flare.environments import export_job
    from wardround.records.study import check_key_metric, load_study
    from wardround.site.safe_quorum import refuse_small_quorum
    from wardround.workloads.registry import make_workload

    settings = load_study(study, tuple(overrides or ()))
    workload = make_workload(settings)
    check_key_metric(settings, workload.metric_names(), "the workload", last=workload.last_metric_names())
    job = export_job(study, settings, folder)
    try:
        refuse_small_quorum(settings)
    except WardroundError as warning:
        progress().print(f"[yellow]sites with patients' data will refuse this job: {escape(str(warning))}[/]")
    results().print(f"{job}", soft_wrap=True)
