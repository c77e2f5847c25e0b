"""A server whose port another program has."""

import socket
from typing import Any

import pytest

from support.production import SITES, Consortium

pytestmark = pytest.mark.e2e


def test_a_server_whose_port_is_taken_says_so_and_serves_once_it_is_free(consortium: Consortium, finished: Any) -> None:
    consortium.stop("server")
    before = len(consortium.said("server"))
    with socket.create_server(("", consortium.port)):
        consortium.start("server")
        consortium.wait_for(lambda: "address already in use" in consortium.said("server")[before:], 60, "port taken")
        assert str(consortium.port) in consortium.said("server")[before:]
    consortium.wait_until_connected(*SITES)
