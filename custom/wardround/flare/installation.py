"""The record of an installation, `local/wardround.json`: what was put into a kit, and what has changed there since."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from wardround import __version__
from wardround.records.code import code_facts
from wardround.records.files import write_whole
from wardround.records.reasons import Reason, WardroundError
from wardround.records.versions import package_versions

RECORD = "wardround.json"
_KEYS = (".key",)  # a private key's hash is nobody's business


class Installation(BaseModel):
    """The whole record.

    Attributes:
        source: the folder that was installed; None for a server with nothing of its own.
        version, flare: of wardround and FLARE, as they were then.
        code: SHA-256 of wardround's installed files then; None in a record that an earlier version wrote.
        local: SHA-256 of each file that was written to `local/`, by name.
        startup: SHA-256 of each file that was found in `startup/`, by name, but of private keys.
    """

    model_config = ConfigDict(frozen=True)  # what a later version adds is its own: `versions` tells that it is later

    source: Path | None
    version: str
    flare: str
    code: str | None = None
    local: dict[str, str]
    startup: dict[str, str]


def note_installation(kit: Path, source: Path | None, texts: Mapping[str, str]) -> Path:
    """Writes the record of an installation that has just put `texts` into the kit's `local/`; returns its file."""
    record = Installation(
        source=source.resolve() if source else None,
        version=__version__,
        flare=package_versions()["nvflare"],
        code=code_facts().package_sha256,
        local={name: sha256(text.encode()) for name, text in sorted(texts.items())},
        startup=_startup_hashes(kit),
    )
    file = kit / "local" / RECORD
    write_whole(file, (record.model_dump_json(indent=2) + "\n").encode())
    return file


def read_installation(kit: Path) -> Installation | None:
    """What was installed into a kit, or None.

    Raises:
        WardroundError: its record is damaged.
    """
    file = kit / "local" / RECORD
    if not file.is_file():
        return None
    try:
        return Installation.model_validate(json.loads(file.read_bytes()))
    except ValueError as error:  # not JSON, or not a record: pydantic's error is one too
        raise WardroundError(
            Reason.ENVIRONMENT_INVALID, f"{file}: damaged ({type(error).__name__}); install with --force"
        ) from error


def startup_faults(kit: Path) -> list[str]:
    """Why this kit must not be started, each in one line; empty where it may be.

    Raises:
        WardroundError: the record of its installation is damaged.
    """
    faults = [fault] if (fault := path_fault(kit)) else []
    installation = read_installation(kit)
    if installation is None:
        faults.append(f"{kit / 'local' / RECORD}: missing; run `wardround site install` for this kit")
    elif changed := changed_startup(kit, installation):
        faults.append(f"{kit / 'startup'}: not as it was when the kit was installed: {'; '.join(changed)}")
    return faults


def path_fault(kit: Path) -> str | None:
    """Why FLARE could start no job in this folder, or None."""
    if any(character.isspace() for character in str(kit)):
        return f"{kit}: FLARE splits a job's command line at spaces; move the kit to a path without one"
    return None


def changed_startup(kit: Path, installation: Installation) -> list[str]:
    """Startup files that are not as they were at the installation: `name was edited`, `is new`, `is missing`."""
    now = _startup_hashes(kit)
    edited = [f"{name} was edited" for name, hash_ in installation.startup.items() if now.get(name, hash_) != hash_]
    missing = [f"{name} is missing" for name in installation.startup if name not in now]
    return [*edited, *missing, *(f"{name} is new" for name in now if name not in installation.startup)]


def changed_local(kit: Path, installation: Installation) -> list[str]:
    """Names of files that the installation wrote to `local/` and that are edited or gone since."""
    present = {file.name: sha256(file.read_bytes()) for file in (kit / "local").iterdir() if file.is_file()}
    return [name for name, hash_ in installation.local.items() if present.get(name) != hash_]


def sha256(content: bytes) -> str:
    """The hash that the record has of a file with this content."""
    return hashlib.sha256(content).hexdigest()


def _startup_hashes(kit: Path) -> dict[str, str]:
    startup = kit / "startup"
    found = sorted(file for file in startup.rglob("*") if file.is_file() and file.suffix not in _KEYS)
    return {str(file.relative_to(startup)): sha256(file.read_bytes()) for file in found}
