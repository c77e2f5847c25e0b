"""Where the engine's socket is, for the compose file that hands it to parents."""

import os
from pathlib import Path


def socket_settings() -> dict[str, str]:
    """DOCKER_SOCKET, and in DOCKER_GROUP the group that may use it."""
    socket = Path(os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock").removeprefix("unix://"))
    return {"DOCKER_SOCKET": str(socket), "DOCKER_GROUP": str(socket.stat().st_gid)}
