"""Whether a standing process serves: a hospital's is registered with the server, a server's takes connections.

A process that runs is not enough: a hospital's keeps running while the server refuses it or is gone. FLARE has no
question to ask a site, so this looks at what is there: the process, its connection, and the site's log.

    python -m wardround.flare.health WORKSPACE      prints one line; exit code 0 or 1

It imports little, since a container asks every few seconds.
"""

import json
import sys
import time
from pathlib import Path

import psutil

from wardround.flare.kit_log import REGISTERED, is_unanswered, newest_lines
from wardround.flare.standing_process import standing_process
from wardround.records.files import write_whole

_CLOCK_SECONDS = 2.0  # how far two readings of a process' start may lie apart


def problem(workspace: Path) -> str | None:
    """What is wrong, in one line, or None.

    Args:
        workspace: the startup kit that the process runs in.
    """
    process = standing_process(workspace)
    if process is None:
        return f"no FLARE process runs in {workspace}"
    port = _server_port(workspace)
    if port is None:
        return f"{workspace}/startup: no port of the server in fed_client.json or fed_server.json"
    connections = process.net_connections("tcp")
    if (workspace / "startup" / "fed_server.json").is_file():
        listens = any(each.status == psutil.CONN_LISTEN and each.laddr.port == port for each in connections)
        return None if listens else f"the server does not listen on port {port} yet"
    if not any(each.status == psutil.CONN_ESTABLISHED and each.raddr.port == port for each in connections):
        return f"no connection to the server's port {port}"
    return _unregistered(workspace, started=process.create_time())


def _server_port(workspace: Path) -> int | None:
    """From `"servers": [{"service": {"target": "host:port"}}]`, which both kinds of kit have."""
    for name in ("fed_client.json", "fed_server.json"):
        file = workspace / "startup" / name
        if file.is_file():
            try:
                target = str(json.loads(file.read_bytes())["servers"][0]["service"]["target"])
            except (OSError, ValueError, LookupError, TypeError):
                return None
            port = target.rpartition(":")[2]
            return int(port) if port.isdigit() else None
    return None


def _unregistered(workspace: Path, *, started: float) -> str | None:
    """Why the site is not registered, by its log's last lines; remembered beside the log, since logs rotate."""
    marker = workspace / "registered.txt"
    lines = newest_lines(workspace)
    if any(REGISTERED in line.text and line.time >= started - _CLOCK_SECONDS for line in lines):
        write_whole(marker, f"{started}\n".encode())
    elif abs(_noted(marker) - started) > _CLOCK_SECONDS:
        return "connected, but not registered with the server yet"
    if is_unanswered(lines, now=time.time()):
        return "the server does not answer this site's heartbeats"
    return None


def _noted(marker: Path) -> float:
    try:
        return float(marker.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return 0.0


def main() -> int:
    """The command line: one argument, the workspace."""
    found = problem(Path(sys.argv[1]))
    sys.stdout.write(f"{found or 'registered'}\n")
    return 0 if found is None else 1


if __name__ == "__main__":
    sys.exit(main())
