"""What FLARE's log tells of a site's connection."""

from pathlib import Path

import pytest

from wardround.flare.connection_log import connection

_START = "2030-01-02 03:04:05,678 - AuxRunner - INFO - registered aux handler for topic fed.event"
_REGISTERED = (
    "2030-01-02 03:04:06,000 - FederatedClient - INFO - "
    "Successfully registered client:hospital-a for project wardround."
)
_UNHEARD = (
    "2030-01-02 04:00:0{},000 - Communicator - INFO - Failed to send heartbeat. Will try again. "
    "Exception: FLCommunicationError: error:client_quit"
)
_BYE = "2030-01-02 05:00:00,000 - MPM - INFO - MPM: Good Bye!"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([_START], "started, not yet registered with the server"),
        ([_START, _REGISTERED], "registered with the server since 2030-01-02 03:04:06 (this machine's time)"),
        (
            [_REGISTERED, _UNHEARD.format(1), _UNHEARD.format(6)],
            "not heard by the server since 2030-01-02 04:00:01 (this machine's time)",
        ),
        ([_REGISTERED, _BYE], "stopped since 2030-01-02 05:00:00 (this machine's time)"),
        (
            [_BYE, _START, _REGISTERED, "  a line of a traceback"],
            "registered with the server since 2030-01-02 03:04:06",
        ),
    ],
)
def test_the_last_event_counts(tmp_path: Path, lines: list[str], expected: str) -> None:
    (tmp_path / "log.txt").write_text("\n".join(lines))
    assert connection(tmp_path).startswith(expected)


def test_a_kit_that_was_never_started(tmp_path: Path) -> None:
    assert connection(tmp_path) == "never started here"
