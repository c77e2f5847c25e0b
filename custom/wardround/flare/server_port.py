"""Ports of this machine: one that is free, and whether the one that a server's kit names is free, or its own."""

import socket

from wardround.flare.connection import tls_context
from wardround.flare.kit import Kit
from wardround.site.check import Check

_TIMEOUT_SECONDS = 5.0


def check_port(kit: Kit) -> Check:
    """One line: free, taken by a server of the kit's own root, which then runs already, or by something else."""
    with socket.socket() as probe:
        # without it a port counts as taken for a minute after its last connection
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", kit.port))
        except PermissionError:
            return Check("port", "failed", f"{kit.port}: this user may not open it; take one above 1023")
        except OSError:
            return _taken(kit)
    return Check("port", "ok", f"{kit.port} is free")


def free_port() -> int:
    """A port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _taken(kit: Kit) -> Check:
    try:
        context = tls_context(kit)
        context.check_hostname = False  # the machine is asked by its address
        with (
            socket.create_connection(("127.0.0.1", kit.port), timeout=_TIMEOUT_SECONDS) as plain,
            context.wrap_socket(plain),
        ):
            return Check("port", "ok", f"{kit.port}: a server of this consortium runs on it")
    except OSError:
        return Check("port", "failed", f"{kit.port}: in use by another program; end it, or provision another port")
