"""Why sites of this machine failed, from their own logs: for their user's screen, never for a record or report."""

import re
from collections.abc import Sequence
from pathlib import Path

from wardround.site.config import SiteConfig
from wardround.site.site_log import FILE_NAME

_ENTRY = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} ([A-Z]+) ", re.M)
_TRACEBACK = "Traceback (most recent call last):\n"
_OURS = re.compile(r"^wardround\.[\w.]+: ")


class SiteCauses:
    """What sites write into their logs from now on. Made before FLARE starts; a log keeps earlier runs' lines too."""

    def __init__(self, configs: Sequence[SiteConfig]) -> None:
        self._logs = {config.name: config.state_folder / FILE_NAME for config in configs}
        self._sizes = {site: _size(log) for site, log in self._logs.items()}

    def lines(self) -> list[str]:
        """One line a site that failed: its first failure, and where there is more."""
        told = []
        for site, log in self._logs.items():
            cause = first_cause(_read(log, self._sizes[site]))
            if cause:
                first, *rest = cause.splitlines()
                more = f"{len(rest)} more lines in" if rest else "more in"
                told.append(f"{site}: {first} ({more} {log})")
        return told


def first_cause(text: str) -> str | None:
    """The text of the first exception in a log's lines; without a traceback, of the first error; None without either.

    Of our own errors the class is left out. The last of chained exceptions is the one that was not handled.
    """
    starts = [*_ENTRY.finditer(text)]
    ends = [match.start() for match in starts[1:]] + [len(text)]
    for match, end in zip(starts, ends, strict=False):
        if match[1] not in ("ERROR", "CRITICAL"):
            continue
        entry = text[match.start() : end].strip()
        if _TRACEBACK not in entry:
            return entry[match.end() - match.start() :].partition(": ")[2]
        lines = entry.rpartition(_TRACEBACK)[2].splitlines()
        while lines and lines[0].startswith(" "):
            lines.pop(0)
        return _OURS.sub("", "\n".join(lines)) or None
    return None


def _size(log: Path) -> int:
    return log.stat().st_size if log.is_file() else 0


def _read(log: Path, start: int) -> str:
    if not log.is_file():
        return ""
    with log.open("rb") as file:
        file.seek(start)
        return file.read().decode("utf-8", errors="replace")
