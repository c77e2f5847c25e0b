"""Healthy means registered with the server: not merely running, not merely connected."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from support.kits import make_kit
from wardround.flare.health import problem
from wardround.flare.parent import CLIENT_MODULE, SERVER_MODULE

# stands for FLARE's process: holds the connection, or the port, whose number is its last argument
_CONNECTED = "import socket, sys, time; c = socket.create_connection(('127.0.0.1', int(sys.argv[-1]))); time.sleep(60)"
_LISTENING = "import socket, sys, time; s = socket.create_server(('127.0.0.1', int(sys.argv[-1]))); time.sleep(60)"
_IDLE = "import time; time.sleep(60)"


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


@contextmanager
def _running(script: str, module: str, kit: Path, port: int) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, "-c", script, module, "-m", str(kit), str(port)])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def _settled(kit: Path, wanted: str | None) -> str | None:
    """What is said once the process has had time to start."""
    deadline = time.monotonic() + 20
    while (found := problem(kit)) != wanted and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def _log(kit: Path, *texts: str, age: float = 0.0) -> None:
    moment = datetime.now() - timedelta(seconds=age)
    with (kit / "log.txt").open("a", encoding="utf-8") as stream:
        for text in texts:
            stream.write(f"{moment:%Y-%m-%d %H:%M:%S},123 - FederatedClient - INFO - {text}\n")


_REGISTERED = "Successfully registered client:hospital-a for project wardround."
_UNREGISTERED = "connected, but not registered with the server yet"
_UNANSWERED = "the server does not answer this site's heartbeats"


def test_nothing_runs(tmp_path: Path) -> None:
    kit = make_kit(tmp_path / "kit")
    _log(kit, _REGISTERED)
    assert problem(kit) == f"no FLARE process runs in {kit}"


def test_a_hospital_without_a_connection(tmp_path: Path, server: socket.socket) -> None:
    port = server.getsockname()[1]
    kit = make_kit(tmp_path / "kit", port=port)
    _log(kit, _REGISTERED)
    with _running(_IDLE, CLIENT_MODULE, kit, port):
        expected = f"no connection to the server's port {port}"
        assert _settled(kit, expected) == expected


def test_a_hospital_that_is_connected_is_healthy_once_registered_and_while_it_is_answered(
    tmp_path: Path, server: socket.socket
) -> None:
    port = server.getsockname()[1]
    kit = make_kit(tmp_path / "kit", port=port)
    _log(kit, _REGISTERED, age=3600)  # an earlier process of this kit
    with _running(_CONNECTED, CLIENT_MODULE, kit, port):
        assert _settled(kit, _UNREGISTERED) == _UNREGISTERED
        _log(kit, _REGISTERED)
        assert problem(kit) is None
        (kit / "log.txt").write_text("", encoding="utf-8")  # FLARE rotates it
        assert problem(kit) is None
        _log(kit, _UNANSWERED_LINE)
        assert problem(kit) == _UNANSWERED
        (kit / "log.txt").write_text("", encoding="utf-8")
        _log(kit, _UNANSWERED_LINE, age=600)
        assert problem(kit) is None


_UNANSWERED_LINE = "Failed to send heartbeat. Will try again. Exception: FLCommunicationError: error:client_quit"


def test_another_kits_process_is_not_this_ones(tmp_path: Path, server: socket.socket) -> None:
    port = server.getsockname()[1]
    kit, other = (make_kit(tmp_path / name, port=port) for name in ("kit", "other"))
    with _running(_CONNECTED, CLIENT_MODULE, other, port):
        assert _settled(other, _UNREGISTERED) == _UNREGISTERED
        assert problem(kit) == f"no FLARE process runs in {kit}"


def test_a_server_is_healthy_once_it_listens(tmp_path: Path, server: socket.socket) -> None:
    port = server.getsockname()[1]
    server.close()
    kit = make_kit(tmp_path / "kit", kind="server", name="server", port=port)
    with _running(_IDLE, SERVER_MODULE, kit, port):
        expected = f"the server does not listen on port {port} yet"
        assert _settled(kit, expected) == expected
    with _running(_LISTENING, SERVER_MODULE, kit, port):
        assert _settled(kit, None) is None


def test_the_command_answers_with_a_line_and_a_code(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "wardround.flare.health", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, f"no FLARE process runs in {tmp_path}\n")
