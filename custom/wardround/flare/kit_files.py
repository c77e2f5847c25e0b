"""Whether a kit's files are as they were installed, and its policy still keeps code, shells and logs out."""

import json
from typing import Any

from nvflare.security.security import COMMAND_CATEGORIES

from wardround.flare.installation import Installation, changed_local, changed_startup
from wardround.flare.kit import Kit
from wardround.flare.policy import classes_of
from wardround.flare.site_files import GUARD, NEVER
from wardround.site.check import Check

# a right may be given to a single command of a category, too
_CLOSED = (*NEVER, *(command for command, category in COMMAND_CATEGORIES.items() if category in NEVER))


def check_files(kit: Kit, installation: Installation | None) -> Check:
    """One line: which files of `startup/` or `local/` were edited since `wardround site install`.

    FLARE signs kits only where they carry homomorphic encryption or run in confidential computing, so the record of
    the installation is what tells.
    """
    if installation is None:
        return Check("files", "failed", f"nothing installed: wardround site install {kit.folder}")
    changed = [f"startup/{text}" for text in changed_startup(kit.folder, installation)]
    if changed:
        return Check(
            "files", "failed", f"{'; '.join(changed)}: ask for the kit again, or install with --force if you did that"
        )
    if edited := changed_local(kit.folder, installation):
        names = ", ".join(f"local/{name}" for name in edited)
        return Check("files", "warning", f"{names}: edited since the installation, so the next one will ask")
    return Check("files", "ok", f"{len(installation.startup) + len(installation.local)} files as installed")


def check_policy(kit: Kit) -> Check:
    """One line: what in `local/` would let the server, or a job, do more than it should."""
    try:
        resources, rights = (
            json.loads((kit.folder / "local" / name).read_text(encoding="utf-8"))
            for name in ("resources.json", "authorization.json")
        )
        open_doors = [*_open_resources(resources, classes_of(kit.role)), *_open_rights(rights)]
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        return Check("policy", "failed", f"local/: {type(error).__name__}: {error}; install again")
    if open_doors:
        return Check("policy", "failed", f"{'; '.join(open_doors)}: install again")
    return Check("policy", "ok", "no code in jobs, no shell commands, no log streaming, classes listed one by one")


def _open_resources(resources: dict[str, Any], classes: tuple[str, ...]) -> list[str]:
    listed = resources.get("class_allow_list", [])
    found = [f"resources.json: class_allow_list lacks {name}" for name in classes if name not in listed]
    found += [
        f"resources.json: class_allow_list: {name!r} is none that a study's job builds"
        for name in listed
        if name not in classes
    ]
    if resources.get("class_list_enforcement_mode") != "enforce":
        found.append("resources.json: class_list_enforcement_mode is not enforce")
    if GUARD not in [component.get("path") for component in resources.get("components", [])]:
        found.append(f"resources.json: components lack {GUARD}")
    if resources.get("allow_log_streaming") is not False:
        found.append("resources.json: allow_log_streaming is not false")
    return found


def _open_rights(rights: dict[str, Any]) -> list[str]:
    found = []
    for role, granted in rights["permissions"].items():
        if isinstance(granted, str):
            if granted != "none":
                found.append(f"authorization.json: {role} has byoc and every other right")
            continue
        for right in _CLOSED:
            if granted.get(right, "none") != "none":  # what is left out of a role's list is not granted
                found.append(f"authorization.json: {role} has {right}")
    return found
