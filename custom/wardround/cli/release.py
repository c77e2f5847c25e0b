"""`wardround release` and `rollback`: from a run's model to a signed folder, and back to the one before."""

import getpass
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from wardround.cli.console import progress, results
from wardround.cli.errors import EXIT_FAILED
from wardround.cli.run_folders import RESULTS, run_folder
from wardround.records.reasons import Reason, WardroundError

RELEASES = Path("releases")
_DEFAULT = "make"
ReleasesFolder = Annotated[Path, typer.Option("--releases", help="Folder of all studies' releases.")]
ResultsFolder = Annotated[Path, typer.Option("--results", help="Where RUN is looked for, if it is no path.")]
PublicKeyFile = Annotated[
    Path,
    typer.Option("--public-key", help="PEM file, got from whoever signs releases by another way than the release."),
]


class _MakeByDefault(TyperGroup):
    """`wardround release RUN` is `wardround release make RUN`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(cls=_MakeByDefault, no_args_is_help=True)


@app.callback()
def release() -> None:
    """Release a run's model if it meets its study's criteria: `wardround release RUN --approver NAME --key FILE`."""


@app.command()
def make(
    run: Annotated[str, typer.Argument(help="The run's folder, or its path below --results.", metavar="RUN")],
    approver: Annotated[str, typer.Option(help="The person who answers for the release, by name.")],
    key: Annotated[
        Path | None,
        typer.Option(
            help="Private key, PEM, which signs the release. Without one the criteria are checked, nothing is written, "
            "and how to make a key is told.",
            show_default="none",
        ),
    ] = None,
    round_number: Annotated[
        int | None,
        typer.Option(
            "--round",
            help="Rounds of training behind the model, as `wardround runs show` has them: those of the best model or "
            "of the last, since the run keeps no other.",
            show_default="those of the best",
        ),
    ] = None,
    version: Annotated[str | None, typer.Option(help="Name of the release.", show_default="v1, v2, ...")] = None,
    results_folder: ResultsFolder = RESULTS,
    releases: ReleasesFolder = RELEASES,
) -> None:
    """Check a run's model against every criterion of its study; if all are met, write releases/STUDY/VERSION, signed.

    The criteria are those of `acceptance` in job.yaml when the run began; without any, nothing is released. The folder
    has the model, its card, the run's manifest and the signature, and becomes the study's current release. `make` may
    be left out.

    Exit code 0: released. 1: a criterion is not met. 2: no key, or the run is not what it says. Nothing is written with
    1 and 2.
    """
    _need_cryptography()
    from wardround.releases.candidate import candidate
    from wardround.releases.make import make_release
    from wardround.releases.signature import how_to_make_a_key, private_key
    from wardround.reporting.acceptance import outcome_lines

    if not approver.strip():
        raise WardroundError(Reason.CONFIGURATION_INVALID, "--approver: name the person who answers for the release")
    chosen = candidate(run_folder(run, results_folder), round_number)
    console = results()
    for line in outcome_lines(chosen.outcome, chosen.summary.words):
        console.print(line, soft_wrap=True, markup=False)
    if chosen.summary.ending.status != "complete":
        told = f"note: the run is {chosen.summary.ending.status}: {'; '.join(chosen.summary.ending.reasons)}"
        progress().print(told, soft_wrap=True, markup=False)
    if not chosen.outcome.met:
        progress().print("[bold red]not released[/]: see what is NOT MET above; nothing was written")
        raise typer.Exit(EXIT_FAILED)
    if key is None:
        raise WardroundError(
            Reason.CREDENTIALS_MISSING,
            f"--key: a release is signed, and needs a private key; {how_to_make_a_key(Path('release.key'))}",
        )
    signer = private_key(key, lambda: str(typer.prompt(f"password of {key}", hide_input=True, err=True)))
    folder = make_release(chosen, releases, signer, approver=approver, version=version)
    console.print(f"released {folder}", soft_wrap=True, markup=False)


@app.command()
def verify(
    folder: Annotated[Path, typer.Argument(help="A release, such as releases/brain_tumor/v1.")],
    public_key_file: PublicKeyFile,
) -> None:
    """Check a release's signature and every file's checksum, and say which release it is.

    Exit code 0: whoever has the private key released just these files. 1: something was changed, added or removed, it
    was signed by somebody else, or it lies under another release's name.
    """
    _need_cryptography()
    from wardround.releases.facts import read_facts
    from wardround.releases.signature import public_key
    from wardround.releases.verify import faults

    found = faults(folder, public_key(public_key_file))
    for fault in found:
        results().print(f"{folder}: {fault}", soft_wrap=True, markup=False)
    if found:
        raise typer.Exit(EXIT_FAILED)
    results().print(f"{folder}: signed by this key, and every file is as it was released", soft_wrap=True, markup=False)
    results().print(read_facts(folder).in_words(), soft_wrap=True, markup=False)


def rollback(
    study: Annotated[str, typer.Argument(help="The study's name.", metavar="STUDY")],
    why: Annotated[str, typer.Option(help="The reason, for the history.", show_default="none")] = "",
    who: Annotated[str | None, typer.Option(help="Who does it, for the history.", show_default="this user")] = None,
    releases: ReleasesFolder = RELEASES,
    public_key_file: Annotated[
        Path | None,
        typer.Option(
            "--public-key",
            help="PEM file, got from whoever signs releases: checks the signature of the one to go back to.",
            show_default="signature not checked, checksums alone",
        ),
    ] = None,
) -> None:
    """Make the release before the current one the current one again, and note it in releases/STUDY/current.

    Nothing is deleted. The one to go back to is checked first: by its checksums, and its signature too where
    --public-key names the key.
    """
    _need_cryptography()
    from wardround.releases.history import roll_back
    from wardround.releases.signature import public_key

    key = public_key(public_key_file) if public_key_file else None
    history = roll_back(releases, study, who=who or getpass.getuser(), why=why, key=key)
    step = history.history[-1]
    if key is None:
        progress().print(
            f"note: checksums of {step.after} fit; its signature was not checked: name the key with --public-key",
            soft_wrap=True,
        )
    results().print(f"{study}: current is {step.after}, was {step.before}", soft_wrap=True, markup=False)


def _need_cryptography() -> None:
    from importlib.util import find_spec

    if find_spec("cryptography") is None:
        raise WardroundError(
            Reason.MODULE_MISSING, "releases need the package cryptography; install wardround with its extra flare"
        )
