"""`wardround runs`: the runs of this machine, one of them, and two side by side."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.table import Table

from wardround.cli.console import results
from wardround.cli.run_folders import RESULTS, run_folder, run_folders
from wardround.cli.run_look import RunLook, look_at, releases_by_run
from wardround.cli.site_inspect import Format
from wardround.records.arms import BEST
from wardround.records.changed import changed
from wardround.records.reasons import WardroundError
from wardround.reporting.acceptance import outcome_lines
from wardround.reporting.measure import DASH
from wardround.reporting.model_card import value_text
from wardround.reporting.runs import Change, RunDifference, RunRow, run_difference, run_row
from wardround.reporting.shared_monitoring import look_in_words
from wardround.reporting.words import Words, words_of

app = typer.Typer(help="The runs of this machine: list them, show one, compare two.", no_args_is_help=True)
ResultsFolder = Annotated[Path, typer.Option("--results", help="Where runs are looked for.")]
ReleasesFolder = Annotated[Path, typer.Option("--releases", help="Folder of all studies' releases.")]
OutputFormat = Annotated[Format, typer.Option("--format", help="text or json.")]
Run = Annotated[str, typer.Argument(help="A run's folder, or its path below --results.", metavar="RUN")]
_RELEASES = Path("releases")


@app.callback()
def runs() -> None:
    """The runs of this machine: list them, show one, compare two."""


@app.command(name="list")
def list_runs(
    results_folder: ResultsFolder = RESULTS, releases: ReleasesFolder = _RELEASES, output: OutputFormat = Format.TEXT
) -> None:
    """List every run: study, time, environment, how it ended, rounds, key figure, releases."""
    released = releases_by_run(releases)
    rows = [_row(folder, results_folder, released) for folder in run_folders(results_folder)]
    if output is Format.JSON:
        typer.echo(json.dumps([row.model_dump(mode="json") for row in rows], indent=2))
        return
    if not rows:
        results().print(f"no run in {results_folder}", soft_wrap=True, markup=False)
        return
    table = _table("run", "study", "time", "where", "ended", "rounds", "mean at training sites", "released")
    for row in rows:
        table.add_row(
            row.run, row.study, (row.time or DASH)[:16].replace("T", " "), row.environment, row.status,
            f"{row.rounds_done} of {row.rounds}", _key(row), ", ".join(row.releases) or DASH,
        )  # fmt: skip
    results().print(table)


@app.command()
def show(
    run: Run,
    results_folder: ResultsFolder = RESULTS,
    releases: ReleasesFolder = _RELEASES,
    output: OutputFormat = Format.TEXT,
) -> None:
    """Show one run: what it was made of, its figures by site, and which criteria for a release it meets."""
    look = look_at(run_folder(run, results_folder))
    released = releases_by_run(releases).get(look.manifest.run or "", [])
    if output is Format.JSON:
        typer.echo(json.dumps(_as_json(look, released), indent=2))
        return
    console = results()
    for line in _facts(look, released):
        console.print(line, soft_wrap=True, markup=False)
    console.print()
    console.print(_sites(look))
    if look.summary is None:
        return
    words = look.summary.words
    console.print(_figures(look, words))
    for site in look.summary.sites:
        if site.monitoring:
            told = look_in_words(site.monitoring, words.title)
            console.print(f"Released model at {site.name}: {told}", soft_wrap=True, markup=False)
    console.print("Criteria for a release, at the best round:")
    assert look.outcome is not None
    for line in outcome_lines(look.outcome, words):
        console.print(f"  {line}", soft_wrap=True, markup=False)


@app.command()
def diff(first: Run, second: Run, results_folder: ResultsFolder = RESULTS, output: OutputFormat = Format.TEXT) -> None:
    """Compare two runs: settings, code, versions, sites, and the best model's test figures by site."""
    looks = [look_at(run_folder(run, results_folder)) for run in (first, second)]
    one, other = looks
    found = run_difference((first, second), (one.manifest, other.manifest), (one.summary, other.summary))
    if output is Format.JSON:
        typer.echo(found.model_dump_json(indent=2))
        return
    console = results()
    for title, changes in (
        ("settings", found.settings), ("code", found.code), ("versions", found.versions), ("sites", found.sites),
    ):  # fmt: skip
        if changes:
            console.print(_changes(title, changes, found))
        else:
            console.print(f"{title}: alike")
    if not found.comparable:
        console.print("The two runs define their figures differently: a difference says nothing of the models.")
    if found.figures:
        console.print(_figure_changes(found, words_of(str(one.manifest.settings["workload"]["kind"])), one, other))
        console.print("Second minus first, not paired by case: without an interval, a small difference shows nothing.")


def _row(folder: Path, results_folder: Path, released: dict[str, list[str]]) -> RunRow:
    name = str(folder.relative_to(results_folder)) if folder.is_relative_to(results_folder) else str(folder)
    try:
        look = look_at(folder)
    except WardroundError as error:  # one broken folder hides no other run
        return RunRow(
            run=name, study=DASH, time=None, environment=DASH, status="unreadable", reasons=[str(error)],
            rounds_done=0, rounds=0,
        )  # fmt: skip
    row = run_row(name, look.manifest, look.summary, released.get(look.manifest.run or "", []))
    return changed(row, status=look.status, reasons=[*row.reasons, *([look.remark] if look.remark else [])])


def _key(row: RunRow) -> str:
    if row.key_metric is None or row.key_value is None:
        return DASH
    few = f" ({row.scored} of {row.sites})" if row.scored != row.sites else ""
    return f"{row.key_metric} {row.key_value:.3f}{few}"


def _facts(look: RunLook, released: list[str]) -> list[str]:
    manifest = look.manifest
    code = manifest.code
    lines = [
        f"{look.folder}: {manifest.study}, {manifest.environment}, {look.status}",
        *([f"  {look.remark}"] if look.remark else []),
        *(f"  {look.in_words(reason)}" for reason in manifest.reasons),
        f"run        {manifest.run or DASH}, {manifest.time or DASH}",
        f"rounds     {manifest.rounds_done} of {manifest.rounds}; best {_or_dash(manifest.best_round)}, "
        f"last {_or_dash(manifest.last_round)}",
        f"study      SHA-256 {manifest.study_sha256}",
        f"contract   SHA-256 {manifest.contract_sha256 or DASH}",
        f"code       SHA-256 {code.package_sha256 if code else DASH}, revision {(code and code.revision) or DASH}, "
        f"image {(code and code.image_digest) or DASH}",
        f"versions   {', '.join(f'{name} {version}' for name, version in manifest.versions.items()) or DASH}",
        f"seeds      {', '.join(f'{name} {seed}' for name, seed in manifest.seeds.items()) or DASH}",
        f"released   {', '.join(released) or 'no'}",
    ]
    lines += [f"model      {name}: round {file.model_round}, {file.file}" for name, file in manifest.models.items()]
    return lines


def _sites(look: RunLook) -> Table:
    table = _table("site", "role", "data", "counts", "data version", "labels")
    for site in look.manifest.sites:
        counts = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in site.counts.items() if count)
        declared = site.declared
        table.add_row(
            site.site, site.role, site.nature.replace("_", "-"), counts, declared.data_version or DASH,
            declared.label_definition or DASH,
        )  # fmt: skip
    for name in look.manifest.missing:
        table.add_row(name, DASH, "never took part", DASH, DASH, DASH)
    return table


def _figures(look: RunLook, words: Words) -> Table:
    assert look.summary is not None
    table = _table("site, best model", "figure", "value, 95 % interval", "n")
    names = _shown(look, words)
    for site in look.summary.sites:
        records = look.summary.records_at(BEST, site.name)
        for name in (name for name in names if name in records):
            record = records[name]
            table.add_row(site.label, words.measure(name).title, value_text(record, words), words.support_text(record))
    return table


def _figure_changes(found: RunDifference, words: Words, *looks: RunLook) -> Table:
    table = _table("site, best model", "figure", "first", "second", "difference")
    names = {name for look in looks for name in _shown(look, words)}
    for row in found.figures:
        if row.metric in names:
            texts = [DASH if record is None else value_text(record, words) for record in (row.first, row.second)]
            measure = words.measure(row.metric)
            table.add_row(
                row.site, measure.title, *texts, DASH if row.difference is None else measure.signed(row.difference)
            )
    return table


def _shown(look: RunLook, words: Words) -> list[str]:
    """The figures that the console shows of a run: the workload's choice, the key metric and those of the criteria."""
    if look.summary is None:
        return []
    chosen = {look.summary.study.key_metric, *look.manifest.acceptance.names}
    families = words.vocabulary.console_families
    names = dict.fromkeys(name for row in look.summary.table if row.arm == BEST for name in row.records)
    return [name for name in names if name in chosen or words.measure(name).family.key in families]


def _changes(title: str, changes: list[Change], found: RunDifference) -> Table:
    table = _table(title, found.first, found.second)
    for change in changes:
        table.add_row(change.key, _or_dash(change.first), _or_dash(change.second))
    return table


def _as_json(look: RunLook, released: list[str]) -> dict[str, Any]:
    summary, outcome = look.summary, look.outcome
    return {
        "run": str(look.folder),
        "manifest": look.manifest.model_dump(mode="json"),
        "figures": [row.model_dump(mode="json") for row in summary.table] if summary else [],
        "acceptance": {**outcome.model_dump(mode="json"), "met": outcome.met} if outcome else None,
        "releases": released,
    }


def _or_dash(value: object) -> str:
    return DASH if value is None else str(value)


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
