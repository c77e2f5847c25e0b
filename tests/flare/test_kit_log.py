"""What FLARE's log tells of a site's connection."""

import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from wardround.flare.kit_log import connection

_START = "2030-01-02 03:04:05,678 - AuxRunner - INFO - registered aux handler for topic fed.event"
_REGISTERED = (
    "2030-01-02 03:04:06,000 - FederatedClient - INFO - "
    "Successfully registered client:hospital-a for project wardround."
)
_UNHEARD = (
    "2030-01-02 04:{},000 - Communicator - INFO - Failed to send heartbeat. Will try again. "
    "Exception: FLCommunicationError: error:client_quit"
)
_UNSENT = (
    "2030-01-02 04:{},000 - CoreCell - ERROR - [ME=:pital-a O=:pital-a D=server F=:pital-a T=server CH=task "
    "TP=heart_beat SCH=? STP=? SEQ=?] cannot send to 'server': target_unreachable"
)
_BYE = "2030-01-02 05:00:00,000 - MPM - INFO - MPM: Good Bye!"
_REFUSED = "2030-01-02 05:00:00,000 - root - ERROR - not started: fed_client.json was edited"
_SINCE = "registered with the server since 2030-01-02 04:04:06 UTC"


@pytest.fixture(autouse=True)
def _west_of_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """FLARE writes this machine's time, here an hour behind UTC."""
    with monkeypatch.context() as machine:
        machine.setenv("TZ", "WEST+1")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.parametrize(
    ("lines", "now", "expected"),
    [
        ([_START], "04:00:00", "started, not yet registered with the server"),
        ([_START, _REGISTERED], "04:00:00", _SINCE),
        (
            [_START, _REGISTERED, _UNSENT.format("00:10"), _UNSENT.format("00:20")],
            "04:00:25",
            "not heard by the server since 2030-01-02 05:00:10 UTC",
        ),
        (
            [_REGISTERED, _UNHEARD.format("00:01"), _UNHEARD.format("00:16"), _UNHEARD.format("00:31")],
            "04:00:40",
            "not heard by the server since 2030-01-02 05:00:01 UTC",
        ),
        # FLARE logs no line when the server answers again
        ([_REGISTERED, _UNHEARD.format("00:01")], "05:00:00", f"{_SINCE}, heard again after 2030-01-02 05:00:01 UTC"),
        (
            [_REGISTERED, _UNHEARD.format("00:01"), _UNHEARD.format("30:01"), _UNHEARD.format("30:16")],
            "04:30:20",
            "not heard by the server since 2030-01-02 05:30:01 UTC",
        ),
        (
            [_REGISTERED, _UNHEARD.format("00:01"), _BYE],
            "05:00:01",
            "stopped since 2030-01-02 06:00:00 UTC",
        ),
        ([_REGISTERED, _REFUSED], "05:00:01", "not started since 2030-01-02 06:00:00 UTC"),
        ([_BYE.replace("05:", "02:"), _START, _REGISTERED, "  a line of a traceback"], "04:00:02", _SINCE),
    ],
)
def test_the_last_event_counts(tmp_path: Path, lines: list[str], now: str, expected: str) -> None:
    (tmp_path / "log.txt").write_text("\n".join(lines))
    assert connection(tmp_path, now=datetime.fromisoformat(f"2030-01-02 {now}").timestamp()) == expected


def test_a_kit_that_was_never_started(tmp_path: Path) -> None:
    assert connection(tmp_path) == "never started here"
