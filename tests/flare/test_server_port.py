"""The server's port: free, its own, or somebody else's."""

import dataclasses
import socket
from pathlib import Path

from support.provisioned import provision
from support.tls_server import tls_server
from wardround.flare.kit import Kit, read_kit
from wardround.flare.server_port import check_port, free_port


def _server(kits: Path, port: int) -> Kit:
    return dataclasses.replace(read_kit(kits / "server"), port=port)


def test_a_free_port(kits: Path) -> None:
    port = free_port()
    assert (check_port(_server(kits, port)).status, check_port(_server(kits, port)).text) == ("ok", f"{port} is free")


def test_the_server_itself_may_run_already(kits: Path) -> None:
    with tls_server(kits / "server", b"") as port:
        found = check_port(_server(kits, port))
    assert (found.status, found.text) == ("ok", f"{port}: a server of this consortium runs on it")


def test_another_program_or_another_consortium_has_it(kits: Path, tmp_path: Path) -> None:
    with tls_server(provision(tmp_path) / "server", b"") as port:
        assert check_port(_server(kits, port)).text.startswith(f"{port}: in use by another program")
    with socket.create_server(("127.0.0.1", 0)) as other:
        other.listen(1)
        port = other.getsockname()[1]
        found = check_port(_server(kits, port))
    assert found.status == "failed"
