"""Logging in to a FLARE server: to which study, what a refusal advises, and that no wait is without an end."""

import base64
import hashlib
import re
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from nvflare.fuel.f3.drivers.aio_http_driver import AioHttpDriver

from support.provisioned import edit
from support.tls_server import server_context
from wardround.flare import login
from wardround.records.reasons import WardroundError

_WEBSOCKET = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455, 1.3


@pytest.mark.parametrize(
    ("answer", "studies", "advice"),
    [
        (None, ["demo"], ""),
        ("study 'demo' is not configured on the server", ["demo", "default"], ""),
        ("unknown study 'demo'", ["demo"], "`nvflare study register demo --sites SITE`"),
        ("user 'lead' is not mapped to study 'demo'", ["demo"], "`nvflare study add-user demo lead`"),
        ("cannot connect to server for 30.0 seconds", ["demo"], "ask its operator"),
        ("another cause", ["demo"], "another cause$"),
    ],
)
def test_a_login_is_to_the_study_unless_the_server_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str | None, studies: list[str], advice: str
) -> None:
    (tmp_path / "startup").mkdir()
    (tmp_path / "startup" / "fed_admin.json").write_text('{"admin": {"username": "lead"}}', encoding="utf-8")
    asked: list[str] = []

    def refuse(_user: str, _kit: str, *, study: str, **_options: Any) -> str:
        asked.append(study)
        if answer is not None and study != "default":
            raise RuntimeError(answer)
        return study

    monkeypatch.setattr(login, "new_secure_session", refuse)
    if answer is None or studies[-1] == "default":
        assert login.open_session(tmp_path, study="demo") == studies[-1]
    else:
        with pytest.raises(WardroundError, match=answer) as told:
            login.open_session(tmp_path, study="demo")
        assert re.search(advice, str(told.value))
    assert asked == studies


@pytest.mark.timeout(60)
def test_a_server_that_answers_only_after_the_login_gave_up_keeps_nobody_waiting(
    kits: Path, tmp_path: Path, late_server: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit = Path(copytree(kits / "lead@consortium.example", tmp_path / "lead"))
    edit(kit / "startup" / "fed_admin.json", "8002", str(late_server))
    monkeypatch.setattr(login, "_FREED_SECONDS", 4.0)
    with pytest.raises(WardroundError, match="cannot connect to server for 1 seconds"):
        login.open_session(kit, timeout=1)


@pytest.fixture
def late_server(kits: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Takes a connection at once, and answers on it after FLARE has closed all that it had."""
    closed, shutdown = threading.Event(), AioHttpDriver.shutdown

    def noted(driver: AioHttpDriver) -> None:
        shutdown(driver)
        closed.set()

    monkeypatch.setattr(AioHttpDriver, "shutdown", noted)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_answer, args=(listener, server_context(kits / "server"), closed), daemon=True)
        thread.start()
        yield listener.getsockname()[1]
    thread.join(10)


def _answer(listener: socket.socket, context: ssl.SSLContext, closed: threading.Event) -> None:
    plain, _ = listener.accept()
    closed.wait(30)
    with plain, context.wrap_socket(plain, server_side=True) as stream:
        key = re.search(rb"Sec-WebSocket-Key: (\S+)", stream.recv(4096))
        assert key
        accepted = base64.b64encode(hashlib.sha1(key[1] + _WEBSOCKET, usedforsecurity=False).digest())
        upgrade = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        stream.sendall(upgrade + b"Sec-WebSocket-Accept: " + accepted + b"\r\n\r\n")
        while stream.recv(4096):
            pass
