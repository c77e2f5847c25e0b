"""`wardround site monitor`: whether a released model still does at this site what it was released for."""

from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from wardround.cli.console import progress, results
from wardround.cli.errors import EXIT_FAILED
from wardround.cli.output_file import PAGE, check_output_file
from wardround.cli.reading_progress import ReadingProgress
from wardround.cli.site_inspect import Format
from wardround.records.files import writable_folder, write_whole
from wardround.records.monitoring import Monitoring
from wardround.records.reasons import Reason, WardroundError

if TYPE_CHECKING:
    from wardround.learners.checkpoint import Checkpoint
    from wardround.records.shared_monitoring import SharedMonitoring
    from wardround.reporting.words import Words
    from wardround.site.config import SiteConfig
    from wardround.workloads.words import Words as GateWords

_COLORS = {"stable": "", "moderate": "yellow", "large": "bold red", "too_few": "dim", "not_comparable": "dim"}


def monitor(
    release: Annotated[Path, typer.Argument(help="A release, such as releases/STUDY/v1.", metavar="RELEASE")],
    site: Annotated[Path, typer.Argument(help="The hospital's site.yaml.", metavar="SITE_YAML")],
    since: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d"], help="First index date of a table's rows.", show_default="all rows"),
    ] = None,
    cases: Annotated[
        Path | None,
        typer.Option(help="File with ids of patients, rows or cases, one a line.", show_default="all cases"),
    ] = None,
    public_key_file: Annotated[
        Path | None,
        typer.Option("--public-key", help="PEM file, got from whoever signs releases: check the signature."),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            help="The release's model with this site's own entries, as `adapt` writes it, where it needs them."
        ),
    ] = None,
    output: Annotated[Format, typer.Option("--format", help="text or json.")] = Format.TEXT,
    html: Annotated[
        Path | None, typer.Option(help="Also write a page with each input's cells, for this hospital's own eyes.")
    ] = None,
    share: Annotated[
        bool,
        typer.Option(
            "--share",
            help="Let counts of it leave with every job of the study, until the file that is named is deleted.",
        ),
    ] = False,
) -> None:
    """Score a released model on the site's new cases, and compare their inputs with those that it was trained on.

    Criteria are the release's, held against the worse end of a 95 % interval over these cases. An input is compared by
    its population stability index: below 0.1 stable, from 0.1 moderate, from 0.25 large, and stable where chance
    explains it.

    Exit code 0: every criterion is met. 1: one is not, or the cases are too few to tell. 2: nothing could be scored, or
    the counts may not leave; what was found is told all the same.

    Without --share nothing of this look leaves; one that was shared before does. With it, the study's next jobs take
    along which criteria are met, how many inputs moved how far, and how many patients and cases that rests on: no
    figure, and no input's name. It is printed first.
    """
    from wardround.releases.read import read_release
    from wardround.releases.signature import public_key
    from wardround.reporting.monitor_page import render_monitoring
    from wardround.reporting.words import words_of
    from wardround.site.config import load_site_config
    from wardround.site.monitor import monitor as look
    from wardround.workloads.words import words_of as study_words

    check_output_file(html, "--html", PAGE)
    config = load_site_config(site)
    if share:
        writable_folder(config.state_folder, "state_folder")
    released = read_release(release, None if public_key_file is None else public_key(public_key_file))
    checkpoint = released.checkpoint if model is None else _own(model, released.checkpoint)
    first = None if since is None else since.date()
    for line in _what_is_taken(first, cases):
        progress().print(line, soft_wrap=True, markup=False)
    progress().print(f"reading the data of {config.name} for {released.facts.study}", soft_wrap=True, markup=False)
    with ReadingProgress(progress()) as reading:
        found = look(
            checkpoint,
            released.outcome.criteria,
            released.statistics,
            config,
            version=released.facts.version,
            release_sha256=released.sha256,
            signature="verified" if released.verified else "not_checked",
            since=first,
            only=_ids(cases),
            progress=reading,
        )
    words = words_of(checkpoint.card.workload["kind"])
    if output is Format.JSON:
        typer.echo(found.model_dump_json(indent=2))
    else:
        _print(results(), found, words, first)
    if html:
        write_whole(html, render_monitoring(found, words).encode(), private=True)
        progress().print(f"{html} (it shows this hospital's figures: keep it here)", soft_wrap=True, markup=False)
    if share:
        _share(progress(), found.counts, config, study_words(checkpoint.card.workload), words)
    if not found.fit:
        raise typer.Exit(EXIT_FAILED)


def _what_is_taken(since: date | None, cases: Path | None) -> list[str]:
    """Nothing here can tell which cases the model was trained on: the split is the study's, and data grows."""
    if since is None and cases is None:
        return ["all cases, those that it was trained on too: name new ones with --since or --cases"]
    told = [] if since is None else [f"cases from {since} on"]
    told += [] if cases is None else [f"cases that {cases} names"]
    return [f"{' and '.join(told)}; any that it was trained on count too, and make it look better than it is"]


def _share(
    console: Console, look: "SharedMonitoring", config: "SiteConfig", gate_words: "GateWords", words: "Words"
) -> None:
    """Keeps a look for the study's next jobs, and says what of it leaves by the rules as they are now."""
    from wardround.reporting.shared_monitoring import look_in_words
    from wardround.site.guarded_monitoring import guard_monitoring
    from wardround.site.shared_look import keep_look, look_file

    told = guard_monitoring(look, config.disclosure, gate_words).passed
    if told is None:
        earlier = look_file(config.state_folder, look.study)
        still = (
            f"; the look that was shared before still leaves: rm {earlier} takes it back" if earlier.exists() else ""
        )
        raise WardroundError(
            Reason.TOO_FEW_PATIENTS,
            f"--share: {look.patients} patients, and disclosure.minimum_patients of {config.source} is "
            f"{config.disclosure.minimum_patients}: nothing may leave of so few, and this look is not kept to leave"
            f"{still}",
        )
    file = keep_look(config.state_folder, look)
    for line in (
        f"with every job of {look.study} leaves from now on: {look_in_words(told, words.title)}",
        f"until another look is shared; to take it back: rm {file}",
    ):
        console.print(line, soft_wrap=True, markup=False)


def _own(model: Path, released: "Checkpoint") -> "Checkpoint":
    from wardround.learners.checkpoint import load_checkpoint

    own = load_checkpoint(model)
    if any(name not in own.tensors or not own.tensors[name].equal(tensor) for name, tensor in released.tensors.items()):
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"--model {model}: its shared entries are not the release's, so it is another model; make it with "
            "`wardround adapt` from the release's model.safetensors",
        )
    return own


def _ids(file: Path | None) -> list[str]:
    if file is None:
        return []
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise WardroundError(Reason.DATA_UNREADABLE, f"--cases {file}: cannot be read: {error}") from error
    found = [line.strip() for line in lines if line.strip()]
    if not found:
        raise WardroundError(Reason.DATA_MISSING, f"--cases {file}: is empty; write an id of a patient or case a line")
    return found


def _print(console: Console, found: Monitoring, words: "Words", since: date | None) -> None:
    from wardround.reporting.monitor_page import criterion_lines, verdict

    def say(text: str, style: str = "") -> None:
        console.print(text, soft_wrap=True, markup=False, style=style)

    say(f"{found.study} {found.version} at {found.site}: {found.cases:,} cases of {found.patients:,} patients", "bold")
    if since:
        say(f"from {since} on")
    if found.left_out:
        say(f"{found.left_out:,} values, rows or files of the whole data are left out; see `wardround site inspect`")
    say("signature: verified" if found.signature == "verified" else "signature: not checked, see --public-key")
    for line in criterion_lines(found, words):
        say(line)
    if found.inputs:
        table = Table("input", "PSI", "chance below", "", "moved most", box=box.SIMPLE_HEAD)
        for one in sorted(found.inputs, key=lambda one: -one.index):
            most = max(one.cells, key=lambda cell: abs(cell.found - cell.expected))
            table.add_row(
                one.name,
                f"{one.index:.3f}",
                "too few to tell" if one.chance is None else f"{one.chance:.3f}",
                one.judged.replace("_", " "),
                f"{most.label}: {most.expected:.0%} to {most.found:.0%}",
                style=_COLORS[one.judged],
            )
        console.print(table)
    else:
        say("inputs: the release keeps no statistics of them")
    say(verdict(found), "bold")
