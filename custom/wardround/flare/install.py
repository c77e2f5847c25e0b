"""`wardround site install`: puts what a hospital's admin owns into a startup kit.

Every file in the kit's `local/` folder either is as this module wrote it, which the record of the installation proves
by its hash, or belongs to the admin, and is then never replaced without being asked.
"""

import difflib
from importlib.resources import files
from pathlib import Path

from wardround.flare.departed import FILE_NAME as DEPARTED
from wardround.flare.departed import Departed, disable_clients, read_departed
from wardround.flare.installation import (
    Installation,
    changed_startup,
    note_installation,
    path_fault,
    read_installation,
    sha256,
)
from wardround.flare.installed_text import server_texts, site_texts
from wardround.flare.kit import Kit, read_kit, refuse_other_site
from wardround.records.files import write_whole
from wardround.records.reasons import Reason, WardroundError
from wardround.site.config import load_site_config

_BACKUP = ".before-install"
_SHOWN_LINES = 40  # of a difference: more would push the message itself off a terminal


def install_folder(
    kit_folder: Path, source: Path | None, *, workspace: Path | None = None, force: bool = False
) -> list[Path]:
    """Makes a startup kit ready for wardround's jobs from a folder such as site_configs/hospital-a.

    For a kit that runs in containers, `nvflare deploy prepare` comes first, since it removes resources.json. The same
    kit and folder give the same bytes, so it may be repeated.

    Args:
        kit_folder: of a server or a site.
        source: the hospital's folder with site.yaml and what stands beside it, or the server's; a file that is missing
            there is taken as `wardround site init` writes it. None: a server with nothing of its own.
        workspace: where the kit will lie when it runs; by default where it is now.
        force: replaces the admin's own files, each kept as `<name>.before-install`, and takes the startup files as
            they are now, for instance after a renewed certificate.

    Returns:
        The files that the kit now has from here, whether they were written now or already the same.

    Raises:
        WardroundError: a workspace that FLARE could not work in, no startup kit of a server or site, another site's,
            a file that someone else wrote or edited (with the difference), or a startup file that is not as it was
            when the kit was first installed.
    """
    _refuse_workspace(workspace)
    kit = read_kit(kit_folder)
    departed = read_departed(source / DEPARTED) if source and kit.role == "server" else []
    texts = _texts(kit, source, workspace, departed)
    local, before = kit.folder / "local", _before(kit, force=force)
    foreign = [name for name, text in texts.items() if _is_foreign(local / name, text, before)]
    if not force:
        _refuse_changed_startup(kit, before)
        _refuse_foreign(local, foreign, texts)
    disable_clients(kit.folder, departed)
    for name in foreign:
        (local / name).replace(local / f"{name}{_BACKUP}")
    for name, text in texts.items():
        write_whole(local / name, text.encode())
    return [*(local / name for name in texts), note_installation(kit.folder, source, texts)]


def _refuse_workspace(workspace: Path | None) -> None:
    if workspace is None:
        return
    if not workspace.is_absolute():
        raise WardroundError(
            Reason.ENVIRONMENT_INVALID,
            f"--workspace {workspace}: expected where the kit will lie, written in full from /, found a relative path",
        )
    if fault := path_fault(workspace):
        raise WardroundError(Reason.ENVIRONMENT_INVALID, f"--workspace {fault}")


def _before(kit: Kit, *, force: bool) -> Installation | None:
    try:
        return read_installation(kit.folder)
    except WardroundError:
        if force:  # all that differs is kept beside then, as if nothing had been installed
            return None
        raise


def _texts(kit: Kit, source: Path | None, workspace: Path | None, departed: list[Departed]) -> dict[str, str]:
    where = workspace or kit.folder.resolve()
    if kit.role == "server":
        return server_texts(kit, source, where, departed)
    if kit.role == "site":
        if source is None:
            raise WardroundError(
                Reason.CONFIGURATION_INVALID,
                f"{kit.folder}: a site's kit; name the folder with its site.yaml, such as site_configs/{kit.name}",
            )
        config = load_site_config(source / "site.yaml")
        refuse_other_site(kit, config)
        return site_texts(kit, source, config)
    raise WardroundError(
        Reason.ENVIRONMENT_INVALID,
        f"{kit.folder}: an admin's kit needs nothing installed; expected a site's or server's",
    )


def _is_foreign(file: Path, text: str, before: Installation | None) -> bool:
    if not file.is_file():
        return False
    content = file.read_bytes()
    ours = before is not None and before.local.get(file.name) == sha256(content)
    return not ours and content != text.encode() and content != _flares_own(file.name)


def _flares_own(name: str) -> bytes | None:
    """What `nvflare deploy prepare` leaves for the admin to fill in."""
    template = files("nvflare.tool.deploy") / "templates" / name
    return template.read_bytes() if template.is_file() else None


def _refuse_foreign(local: Path, foreign: list[str], texts: dict[str, str]) -> None:
    if not foreign:
        return
    name = foreign[0]
    present = (local / name).read_text(encoding="utf-8", errors="replace").splitlines()
    lines = list(difflib.unified_diff(present, texts[name].splitlines(), "in the kit", "to be installed", lineterm=""))
    cut = [f"... {len(lines) - _SHOWN_LINES} more lines"] if len(lines) > _SHOWN_LINES else []
    raise WardroundError(
        Reason.CONFIGURATION_INVALID,
        f"{local}: {', '.join(foreign)}: edited in the kit, so not replaced; move the edit to the folder that is "
        f"installed, or replace it with --force, which keeps it as {name}{_BACKUP}. The difference:\n"
        + "\n".join([*lines[:_SHOWN_LINES], *cut]),
    )


def _refuse_changed_startup(kit: Kit, before: Installation | None) -> None:
    changed = changed_startup(kit.folder, before) if before else []
    if changed:
        raise WardroundError(
            Reason.ENVIRONMENT_INVALID,
            f"{kit.folder / 'startup'}: not as it was when the kit was installed: {'; '.join(changed)}. If you did "
            "that, by a renewed certificate or by `nvflare deploy prepare`, install with --force; otherwise ask for "
            "the kit again",
        )
