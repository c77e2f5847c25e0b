"""`wardround check`: what a study would see of a site's data, before anything is started."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from wardround.cli.console import progress, results
from wardround.cli.errors import EXIT_FAILED, tell
from wardround.cli.options import Overrides
from wardround.records.reasons import Reason, WardroundError


def check(
    site: Annotated[Path, typer.Argument(help="The hospital's site.yaml.", metavar="SITE_YAML")],
    study: Annotated[Path, typer.Option(help="The study whose contract the data must meet.")] = Path(
        "jobs/brain_tumor"
    ),
    overrides: Overrides = None,
) -> None:
    """Inspect a site: counts, every file, row or value that is left out with the reason, device and folders.

    Exit code 1: not usable.
    """
    from wardround.records.study import load_study
    from wardround.site.config import load_site_config
    from wardround.site.inspection import inspect_site, unusable_parts

    if not study.exists():
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"{study}: no such study here; name the folder of its job.yaml with --study, or start in the repository",
        )
    settings = load_study(study, tuple(overrides or ()))
    config = load_site_config(site)
    _refuse_other_study(study, settings.workload["kind"], settings.name, site, list(config.data))
    progress().print(
        f"reading the data of {config.name}; prepared images, if any, go to {config.cache_folder}", soft_wrap=True
    )
    for error in unusable_parts(config):
        tell(error)
    try:
        inspection = inspect_site(settings, config)
    except WardroundError as error:
        tell(error)
        raise typer.Exit(EXIT_FAILED) from None
    data = inspection.data
    results().print(f"{config.name} ({config.role}), study {settings.name}", soft_wrap=True, markup=False)
    table = Table("what", "count")
    for name, count in data.counts.items():
        table.add_row(name.replace("_", " "), str(count))
    results().print(table)
    for remark in data.remarks:
        results().print(f"remark: {remark.code}: {remark}", soft_wrap=True, markup=False)
    for problem in data.problems:
        results().print(f"left out: {problem.code}: {problem}", soft_wrap=True, markup=False)
    for split in inspection.missing:
        results().print(f"no {split} cases: a site with role {config.role} needs them", soft_wrap=True, markup=False)
    for doubt in data.doubts:
        results().print(f"{doubt.code}: {doubt}", soft_wrap=True, markup=False)
    if not inspection.usable:
        raise typer.Exit(EXIT_FAILED)


def _refuse_other_study(study: Path, kind: str, name: str, site: Path, sections: list[str]) -> None:
    if kind not in sections and name not in sections:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"{site}: has no section {' or '.join(f'data.{one}' for one in dict.fromkeys((kind, name)))}, "
            f"which {study} reads; it has "
            f"{', '.join(f'data.{one}' for one in sections)}: add the section, or name another study with --study",
        )
