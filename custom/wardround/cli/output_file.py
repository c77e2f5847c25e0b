"""Where a command writes a file that a person names, such as `--html FILE`: it must never cost another file."""

import os
from pathlib import Path

from wardround.records.reasons import Reason, WardroundError

PAGE = b"<!doctype html"


def check_output_file(file: Path | None, option: str, first: bytes) -> None:
    """Refuses a target before anything is read for it, which can take an hour.

    What the same command wrote earlier may be replaced; a table of patients or a site.yaml named by mistake stays.

    Args:
        file: to be written; None where it is not asked for.
        option: that names it.
        first: how such a file begins.

    Raises:
        WardroundError: something else is there, or the place cannot be written.
    """
    if file is None:
        return
    if os.path.lexists(file) and not file.is_file():
        _refuse(file, option, "there is something else than a plain file at this place")
    if file.is_file():
        with file.open("rb") as stream:
            found = stream.read(len(first))
        if found and found.lower() != first:
            _refuse(file, option, "there is a file that this command did not write, and it would be replaced")
    folder = next(one for one in file.absolute().parents if os.path.lexists(one))
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        _refuse(file, option, f"{folder} is no folder that this user may write")


def _refuse(file: Path, option: str, found: str) -> None:
    raise WardroundError(Reason.CONFIGURATION_INVALID, f"{option} {file}: {found}; name a new file")
