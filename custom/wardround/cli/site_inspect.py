"""`wardround site inspect`: whether a site's data is fit for a study, before anything is started."""

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wardround.cli.console import progress, results
from wardround.cli.errors import EXIT_FAILED
from wardround.cli.finding_table import print_inspection
from wardround.cli.options import Overrides
from wardround.cli.output_file import PAGE, check_output_file
from wardround.cli.reading_progress import ReadingProgress
from wardround.records.files import write_whole
from wardround.records.illustrations import Illustrations
from wardround.records.reasons import Reason, WardroundError

if TYPE_CHECKING:
    from wardround.records.study import Study
    from wardround.site.config import SiteConfig


class Format(StrEnum):
    """For people, or for programs."""

    TEXT = "text"
    JSON = "json"


def inspect(
    site: Annotated[Path, typer.Argument(help="The hospital's site.yaml.", metavar="SITE_YAML")],
    studies: Annotated[
        list[Path] | None,
        typer.Option(
            "--study", help="A study whose contract the data must meet; by default each of jobs/ that site.yaml names."
        ),
    ] = None,
    overrides: Overrides = None,
    everything: Annotated[bool, typer.Option("--all", help="Tell every finding, not the first of each kind.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 on warnings too.")] = False,
    headers_only: Annotated[
        bool,
        typer.Option(
            "--headers-only", help="Look at no more than the headers of images: seconds where all takes an hour."
        ),
    ] = False,
    output: Annotated[Format, typer.Option("--format", help="text or json.")] = Format.TEXT,
    html: Annotated[
        Path | None,
        typer.Option(help="Also write a page with charts or slices of the data, for this hospital's own eyes."),
    ] = None,
) -> None:
    """Inspect a site's data: counts, and every file, row or value that is left out, with what to do about it.

    Each finding is an error (the site takes no part until it is settled; the job's first task refuses too), a warning
    (something is left out, missing or doubtful, the rest is usable) or a note. Images are prepared on the way, on all
    cores, so that a study need not do it again.

    Exit code 0: fit, perhaps with warnings. 1: an error. 2: nothing could be inspected, such as a file that is no
    site.yaml or an unknown study.
    """
    from wardround.records.study import load_study
    from wardround.reporting.inspection_page import render_inspections
    from wardround.site.config import load_site_config
    from wardround.site.inspection import Inspected, inspect_headers, inspect_site
    from wardround.site.processes import available_cores

    check_output_file(html, "--html", PAGE)
    config = load_site_config(site)
    chosen = {folder: load_study(folder, tuple(overrides or ())) for folder in _folders(studies, config)}
    for folder, study in chosen.items():
        _refuse_other_study(folder, study, config)
    looked = []
    for study in chosen.values():
        progress().print(f"reading the data of {config.name} for {study.name}", soft_wrap=True, markup=False)
        if not headers_only:
            _tell_where_one_died(study, config)
        with ReadingProgress(progress()) as reading:
            if headers_only:
                inspected = Inspected(inspect_headers(study, config, progress=reading), None)
            else:
                inspected = inspect_site(study, config, progress=reading, threads=available_cores())
        if output is Format.TEXT:
            print_inspection(results(), inspected.record, everything=everything)
        drawn = inspected.data.illustrate() if html and inspected.data is not None else Illustrations()
        looked.append((inspected.record, drawn))
    if output is Format.JSON:
        typer.echo(json.dumps([record.model_dump(mode="json") for record, _ in looked], indent=2, ensure_ascii=False))
    if html:
        write_whole(html, render_inspections(looked).encode(), private=True)
        progress().print(f"{html} (it shows patients' values: keep it here)", soft_wrap=True, markup=False)
    if any(record.found.errors or (strict and record.found.warnings) for record, _ in looked):
        raise typer.Exit(EXIT_FAILED)


def _tell_where_one_died(study: "Study", config: "SiteConfig") -> None:
    """Before anything is read, since this process may die there too and say nothing."""
    from wardround.workloads.being_read import ended_while_read

    cases = ended_while_read(config.cache_folder / study.workload["kind"])
    if not cases:
        return
    advice = "look at that case, or take it out"
    if len(cases) > 1:
        advice = "the next start names the case that it was, since these are read one at a time now"
    progress().print(
        f"note: an earlier process died while it read {', '.join(cases)}: if this one dies too, {advice}",
        soft_wrap=True,
        markup=False,
    )


def _folders(named: list[Path] | None, config: "SiteConfig") -> list[Path]:
    from wardround.site.shipped_studies import shipped_studies

    for study in named or ():
        if not study.exists():
            raise WardroundError(
                Reason.CONFIGURATION_INVALID,
                f"{study}: no such study here; name the folder of its job.yaml with --study, or start in the "
                "repository",
            )
    found = named or shipped_studies(config)
    if not found:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"{config.source}: has {', '.join(f'data.{one}' for one in config.data)}, and jobs/ has no study of such "
            "a name here: name its folder with --study, or start in the repository",
        )
    return found


def _refuse_other_study(folder: Path, study: "Study", config: "SiteConfig") -> None:
    """A kind that nobody knows is the study's fault; a section that is not there the site's."""
    from wardround.workloads.registry import make_workload

    make_workload(study)
    kind, sections = study.workload["kind"], list(config.data)
    if kind not in sections and study.name not in sections:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"{config.source}: has no section "
            f"{' or '.join(f'data.{one}' for one in dict.fromkeys((kind, study.name)))}, which {folder} reads; it has "
            f"{', '.join(f'data.{one}' for one in sections)}: add the section, or name another study with --study",
        )
