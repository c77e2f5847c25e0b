"""What a site's FLARE process last did about its connection, from the log in its own kit."""

import re
from pathlib import Path

_LINE = re.compile(r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),\d{3} - \S+ - [A-Z]+ - (?:.*? - )?(.*)$")
_NEWEST_BYTES = 512 * 1024
# the words of FLARE's log to what they mean for an admin; the last one that occurs counts
_EVENTS = (
    ("Successfully registered client", "registered with the server"),
    ("Failed to send heartbeat", "not heard by the server"),
    ("client_quit", "not heard by the server"),
    ("is disabled", "disabled at the server"),
    ("not started: ", "not started"),
    ("Good Bye", "stopped"),
    ("System stopped", "stopped"),
)


def connection(kit: Path) -> str:
    """One line, such as `registered with the server since 2030-01-02 03:04:05 (this machine's time)`."""
    file = kit / "log.txt"
    if not file.is_file():
        return "never started here"
    since, state = "", ""
    for line in _newest(file):
        found = _LINE.match(line)
        event = found and next((meaning for words, meaning in _EVENTS if words in found.group(2)), None)
        if found and event and event != state:
            since, state = found.group(1), event
    if not state:
        return "started, not yet registered with the server"
    return f"{state} since {since} (this machine's time)"


def _newest(file: Path) -> list[str]:
    with file.open("rb") as stream:
        stream.seek(max(0, file.stat().st_size - _NEWEST_BYTES))
        return stream.read().decode("utf-8", "replace").splitlines()
