"""What a site.yaml names as a file is one: a folder or a pipe is told as such, and never read."""

from pathlib import Path

from wardround.records.faults import fault
from wardround.records.reasons import Reason, WardroundError


def refuse_no_file(file: Path, *, key: str = "", expected: str = "a plain file", advice: str = "") -> None:
    """Refuses a place with no plain file; reading a pipe would wait for ever.

    Raises:
        WardroundError: DATA_MISSING where nothing is there, DATA_UNREADABLE for anything else.
    """
    if file.is_file():
        return
    if not file.exists():
        raise WardroundError(Reason.DATA_MISSING, fault("no such file", file=file, key=key, advice=advice))
    found = f"there is {'a folder' if file.is_dir() else 'a device, pipe or socket'} at this place"
    raise WardroundError(Reason.DATA_UNREADABLE, fault(found, file=file, key=key, expected=expected, advice=advice))
