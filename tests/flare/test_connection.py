"""Whether the server answers, is the consortium's own, and tells the same time."""

import dataclasses
import shutil
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from support.provisioned import provision
from support.tls_server import tls_server
from wardround.flare.connection import check_connection
from wardround.flare.kit import Kit, read_kit
from wardround.flare.server_port import free_port


@pytest.fixture(scope="module")
def other_kits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return provision(tmp_path_factory.mktemp("other"))


def _answer(hours: float = 0) -> bytes:
    date = format_datetime(datetime.now(UTC) + timedelta(hours=hours), usegmt=True)
    return f"HTTP/1.1 426 Upgrade Required\r\nDate: {date}\r\n\r\n".encode()


def _site(kits: Path, port: int, **changes: str) -> Kit:
    return dataclasses.replace(read_kit(kits / "hospital-a"), port=port, **changes)


def test_a_server_of_the_same_root_is_fine(kits: Path) -> None:
    with tls_server(kits / "server", _answer()) as port:
        server, clock = check_connection(_site(kits, port))
    assert server.status == clock.status == "ok"
    assert server.text.startswith(f"localhost:{port} (")
    assert "127.0.0.1" in server.text


@pytest.mark.parametrize(("hours", "text"), [(2, "s behind the server's"), (-2, "s ahead of the server's")])
def test_a_clock_that_differs_is_told(kits: Path, hours: float, text: str) -> None:
    with tls_server(kits / "server", _answer(hours)) as port:
        clock = check_connection(_site(kits, port))[1]
    assert clock.status == "failed"
    assert text in clock.text


def test_without_http_only_local_dates_are_compared(kits: Path) -> None:
    with tls_server(kits / "server", b"") as port:
        findings = check_connection(_site(kits, port, scheme="grpc"))
    assert [one.status for one in findings] == ["ok", "skipped"]


def test_a_server_of_another_root_is_told_as_such(kits: Path, other_kits: Path) -> None:
    with tls_server(other_kits / "server", _answer()) as port:
        (found,) = check_connection(_site(kits, port))
    assert found.status == "failed"
    assert "of another root than this kit" in found.text


@pytest.mark.parametrize("scheme", ["http", "grpc"])
def test_a_server_that_refuses_this_kit_is_told(kits: Path, other_kits: Path, tmp_path: Path, scheme: str) -> None:
    mixed = Path(shutil.copytree(kits / "hospital-a", tmp_path / "hospital-a"))
    for name in ("client.crt", "client.key"):
        shutil.copyfile(other_kits / "hospital-a" / "startup" / name, mixed / "startup" / name)
    with tls_server(kits / "server", _answer()) as port:
        (found,) = check_connection(dataclasses.replace(_site(kits, port, scheme=scheme), folder=mixed))
    assert found.status == "failed"
    assert "refuses this kit's certificate" in found.text


def test_a_server_that_closes_without_a_word_is_told(kits: Path) -> None:
    with tls_server(kits / "server", b"") as port:
        (found,) = check_connection(_site(kits, port))
    assert found.status == "failed"
    assert found.text.endswith("refuses this kit's certificate or speaks no TLS (it closed the connection)")


def test_names_and_ports_that_lead_nowhere_are_told(kits: Path) -> None:
    assert "does not resolve here" in check_connection(_site(kits, 1, host="server.invalid"))[0].text
    assert "the server is not running, or a firewall" in check_connection(_site(kits, free_port()))[0].text
    with tls_server(kits / "server", _answer()) as port:
        (found,) = check_connection(_site(kits, port, host="127.0.0.2"))
    assert "no answer" in found.text
