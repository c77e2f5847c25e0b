"""`wardround site init`: a hospital's folder from flags, or from questions."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from wardround.cli.console import progress, results
from wardround.records.reasons import Reason, WardroundError


class Role(StrEnum):
    """What a site does in a study."""

    TRAIN = "train"
    EVALUATE = "evaluate"


def init(
    name: Annotated[str, typer.Argument(help="The site's name, as it will be in its certificate.")],
    data: Annotated[
        list[str] | None,
        typer.Option(
            help="KIND=PATH, such as brain_tumor=/srv/images; a relative path starts from where you are, and is "
            "written in full. Repeatable; asked for if none."
        ),
    ] = None,
    folder: Annotated[Path | None, typer.Option(help="Where to; by default site_configs/NAME.")] = None,
    org: Annotated[str, typer.Option(help="The hospital, as the consortium calls it; by default NAME.")] = "",
    role: Annotated[Role, typer.Option(help="evaluate: only scored, never trained on.")] = Role.TRAIN,
    gpus: Annotated[int | None, typer.Option(min=0, help="GPUs that jobs may have; asked for if not given.")] = None,
    gpu_memory: Annotated[
        int, typer.Option(min=0, help="GiB of each, less than is free: a job has its GPUs alone; 0: shared.")
    ] = 0,
    image: Annotated[list[str] | None, typer.Option(help="KIND=IMAGE of job containers. Repeatable.")] = None,
    parent_image: Annotated[str, typer.Option(help="Image of the standing process.")] = "",
    state: Annotated[
        str | None,
        typer.Option(
            help="Folder of what the site keeps: own entries, scores by case, pictures.",
            show_default="state, in the new folder",
        ),
    ] = None,
    cache: Annotated[
        str | None,
        typer.Option(help="Folder of prepared cases; safe to delete.", show_default="cache, in the new folder"),
    ] = None,
    generated: Annotated[bool, typer.Option("--generated", help="No patient is in the data.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
) -> None:
    """Write the folder with all that a hospital's admin decides, from flags, or from questions at a terminal."""
    from wardround.flare.new_site import NewSite, write_new_site
    from wardround.site.config import load_site_config

    data = data or _ask_for_data()
    gpus = gpus if gpus is not None else _ask_for_gpus()
    site = NewSite(
        name=name,
        org=org or name.replace("-", "_"),
        data={kind: _from_here(path) for kind, path in _pairs(data, "--data").items()},
        role=role,
        device="cuda" if gpus else "cpu",
        gpus=gpus,
        gpu_memory=gpu_memory,
        images=_pairs(image or [], "--image"),
        parent_image=parent_image,
        state="state" if state is None else _from_here(state),
        cache="cache" if cache is None else _from_here(cache),
        generated=generated,
    )
    target = folder or Path("site_configs") / name
    for file in write_new_site(target, site, force=force):
        results().print(f"{file}", soft_wrap=True)
    config = load_site_config(target / "site.yaml")
    for key, path in [one for kind in site.data for one in config.paths(kind)]:
        if not path.exists():
            progress().print(f"note: {path}: nothing is there now ({key})", soft_wrap=True, markup=False)
    if not generated:
        progress().print(
            f"next: edit {target / 'site.yaml'}: keys that are empty, and columns, which have the study's names and "
            f"not yours; then wardround site inspect {target / 'site.yaml'}",
            soft_wrap=True,
            markup=False,
        )


def at_terminal() -> bool:
    """Whether there is someone to ask."""
    return sys.stdin.isatty()


def _from_here(path: str) -> str:
    """A path as it was typed, in full: in site.yaml a relative one would start from that file's folder.

    What site.yaml itself makes a path of, a home folder or an environment variable, stays as it is.
    """
    if not path.strip() or path.startswith("~") or "${" in path:
        return path
    return str(Path(path).absolute())  # links on the way are left as they are typed


def _ask_for_data() -> list[str]:
    if not at_terminal():
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            "--data: none given, and no terminal to ask at; such as --data brain_tumor=PATH",
        )
    from wardround.site.new_config import questions

    answers = {
        kind: typer.prompt(f"{question}, empty for none", default="", show_default=False)
        for kind, question in questions().items()
    }
    return [f"{kind}={path}" for kind, path in answers.items() if path]


def _ask_for_gpus() -> int:
    return int(typer.prompt("GPUs for jobs", default=0, type=int)) if at_terminal() else 0


def _pairs(texts: list[str], option: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        kind, equals, value = text.partition("=")
        if not (kind and equals and value):
            raise WardroundError(Reason.CONFIGURATION_INVALID, f"{option}: expected KIND=VALUE, found {text!r}")
        if kind in found:
            raise WardroundError(
                Reason.CONFIGURATION_INVALID, f"{option}: {kind} is there twice, with {found[kind]!r} and {value!r}"
            )
        found[kind] = value
    if option == "--data" and not found:
        raise WardroundError(Reason.CONFIGURATION_INVALID, "--data: a site needs data of one kind at least")
    return found
