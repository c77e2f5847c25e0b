"""FLARE's log in a site's kit: what it tells of the connection to the server, for whoever asks.

A health check of a container imports this every few seconds, so it imports little.
"""

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

REGISTERED = "Successfully registered client"  # FLARE says it once, at the start
UNANSWERED = (
    "Failed to send heartbeat"  # again and again while the server refuses the site or is gone, and no end of it
)
# FLARE's heartbeats are 10 s apart, and a failed one is tried again after its timeout and 5 s
UNANSWERED_SECONDS = 45.0
_UNSENT = ("TP=heart_beat", "cannot send to")
_STATES = {
    REGISTERED: "registered with the server",
    "not started: ": "not started",  # the kit guard's
    "Good Bye": "stopped",
}
_NEWEST_BYTES = 512 * 1024  # the longest outage: two hours of failed heartbeats at 200 bytes each have room
_TIME = "%Y-%m-%d %H:%M:%S,%f"


@dataclass(frozen=True)
class LogLine:
    """One line that FLARE logged: seconds since the epoch, and all that stands behind its time."""

    time: float
    text: str


def newest_lines(kit: Path) -> list[LogLine]:
    """The log's last lines, oldest first; none where there is no log. Lines of a traceback are left out."""
    file = kit / "log.txt"
    if not file.is_file():
        return []
    with file.open("rb") as stream:
        stream.seek(max(0, file.stat().st_size - _NEWEST_BYTES))
        lines = stream.read().decode("utf-8", "replace").splitlines()
    return [line for line in map(_parsed, lines) if line]


def is_unanswered(lines: list[LogLine], *, now: float) -> bool:
    """Whether the server does not answer the site's heartbeats now. FLARE tells no more once it does again."""
    return any(_is_failure(line) and now - line.time < UNANSWERED_SECONDS for line in lines)


def connection(kit: Path, *, now: float | None = None) -> str:
    """One line, such as `registered with the server since 2030-01-02 03:04:05 UTC`."""
    if not (kit / "log.txt").is_file():
        return "never started here"
    lines = newest_lines(kit)
    last = next((line for line in reversed(lines) if _state(line)), None)
    if last is None:
        return "started, not yet registered with the server"
    state = _state(last)
    failures = [line for line in lines if _is_failure(line) and line.time >= last.time]
    if state != _STATES[REGISTERED] or not failures:
        return f"{state} since {_told(last)}"
    if is_unanswered(failures, now=time.time() if now is None else now):
        return f"not heard by the server since {_told(_outage(failures))}"
    return f"{state} since {_told(last)}, heard again after {_told(failures[-1])}"


def is_of_a_run(told: str) -> bool:
    """Whether what `connection` told is of a process that should be there."""
    return told.startswith(("registered", "not heard", "started"))


def _is_failure(line: LogLine) -> bool:
    """A heartbeat that the server did not answer, or that found no way to it: FLARE gives up on the former for good
    where the server was killed, and repeats the latter."""
    return UNANSWERED in line.text or all(words in line.text for words in _UNSENT)


def _state(line: LogLine) -> str | None:
    return next((state for words, state in _STATES.items() if words in line.text), None)


def _outage(failures: list[LogLine]) -> LogLine:
    """The first failure of those that follow each other to the last without a heartbeat between."""
    first = failures[-1]
    for line in reversed(failures):
        if first.time - line.time >= UNANSWERED_SECONDS:
            break
        first = line
    return first


def _parsed(line: str) -> LogLine | None:
    """Of `2026-01-31 12:00:00,123 - NAME - LEVEL - text`, which FLARE writes in this machine's time."""
    try:
        return LogLine(datetime.strptime(line[:23], _TIME).timestamp(), line[23:])
    except ValueError:
        return None


def _told(line: LogLine) -> str:
    return f"{datetime.fromtimestamp(line.time, UTC):%Y-%m-%d %H:%M:%S} UTC"
