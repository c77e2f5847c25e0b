"""`wardround site outbox`: what left the site, in a form that its admin reads."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from wardround.cli.console import results
from wardround.cli.hospital import hospital
from wardround.records.outbox import FILE_NAME, OutboxLine
from wardround.records.shared_monitoring import SharedMonitoring
from wardround.reporting.shared_monitoring import look_in_words


def outbox(
    site: Annotated[Path, typer.Argument(help="The site's startup kit, or its site.yaml or the folder with it.")],
    last: Annotated[int, typer.Option(min=0, help="Show the newest so many messages; 0: all.")] = 20,
    run: Annotated[str, typer.Option(help="Of this run alone.")] = "",
    whole: Annotated[bool, typer.Option("--whole", help="With every figure, count and name, as JSON.")] = False,
) -> None:
    """Show what left the site: each message to the server, after FLARE's own filters, as it was sent."""
    from wardround.site.outbox import read_lines

    folder = hospital(site)[0].state_folder
    lines = [line for line in read_lines(folder) if not run or line.run == run]
    console = results()
    for line in lines[-last:] if last else lines:
        if whole:
            typer.echo(line.model_dump_json(indent=2, exclude_defaults=True))
            continue
        for text in _told(line):
            console.print(text, soft_wrap=True, markup=False)
    if not lines:
        console.print(f"nothing has left: {folder / FILE_NAME} has no message", soft_wrap=True, markup=False)


def _told(line: OutboxLine) -> Iterator[str]:
    """A headline, and a line for each part of the message that holds something."""
    about = [line.task, line.arm, line.split] if line.task == "validate" else [line.task]
    round_ = f"round {line.round + 1}" if line.task == "train" and line.round is not None else ""
    yield "  ".join(part for part in (line.time[:19], line.run, " ".join(filter(None, about)), round_) if part)
    reply = line.reply or {}
    if line.code != "OK":
        yield f"  nothing but FLARE's return code ({line.code})"
    if reply.get("error"):
        yield f"  nothing but the reason code {reply['error']}"
    manifest = reply.get("manifest") or {}
    if manifest:
        yield f"  counts      {_counts(manifest.get('counts', {}), manifest.get('banded', {}))}"
        problems = _counts(manifest.get("problems", {}), manifest.get("banded_problems", {}))
        yield f"  left out    {problems or 'none'}"
        if doubts := _counts(manifest.get("doubts", {}), manifest.get("banded_doubts", {})):
            yield f"  doubts      {doubts}"
        if manifest.get("statistics"):
            yield f"  sums        {', '.join(tally['name'] for tally in manifest['statistics'])}"
        if manifest.get("inputs"):
            yield f"  inputs      counts by cell: {', '.join(tally['name'] for tally in manifest['inputs'])}"
        if manifest.get("monitoring"):
            yield f"  monitoring  release {look_in_words(SharedMonitoring.model_validate(manifest['monitoring']))}"
    report = reply.get("report") or {}
    if report:
        yield f"  training    {report['patients']} patients, {report['steps']} steps, loss {report['loss']}"
    if reply.get("records"):
        yield f"  figures     {', '.join(_figure(record) for record in reply['records'])}"
    if reply.get("tallies"):
        yield f"  sums        {', '.join(tally['name'] for tally in reply['tallies'])}"
    for name in ("cohorts", "alerts"):
        if reply.get(name):
            yield f"  {name:<12}{len(reply[name])}"
    held = [*reply.get("suppressed", []), *manifest.get("suppressed", [])]
    if held:
        yield f"  held back   {', '.join(held)}"
    if reply.get("notes"):
        yield f"  notes       {', '.join(reply['notes'])}"
    if line.weights:
        norm = sum((one.norm or 0.0) ** 2 for one in line.weights) ** 0.5
        yield f"  weights     {line.kind}, {len(line.weights)} arrays, L2 norm {norm:.4g}"


def _figure(record: dict[str, object]) -> str:
    value = record.get("value")
    return f"{record['name']} {value}" if value is not None else f"{record['name']} {record.get('status')}"


def _counts(exact: dict[str, int], banded: dict[str, tuple[int, int | None]]) -> str:
    told = [f"{count} {name.replace('_', ' ')}" for name, count in exact.items() if count]
    told += [
        f"{f'{low} to {high}' if high is not None else f'at least {low}'} {name.replace('_', ' ')}"
        for name, (low, high) in banded.items()
    ]
    return ", ".join(told)
