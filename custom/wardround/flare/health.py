"""Whether a standing process serves: a hospital's is registered with the server, a server's takes connections.

A process that runs is not enough: a hospital's keeps running while the server refuses it or is gone. FLARE has no
question to ask a site, so this looks at what is there: the process, its connection, and the site's log.

    python -m wardround.flare.health WORKSPACE      prints one line; exit code 0 or 1

It imports little, since a container asks every few seconds.
"""

import json
import sys
import time
from datetime import datetime
from pathlib import Path

import psutil

_MODULES = ("nvflare.private.fed.app.client.client_train", "nvflare.private.fed.app.server.server_train")
_REGISTERED = "Successfully registered client"  # what FLARE logs once, at the start
_UNANSWERED = "Failed to send heartbeat"  # again and again, while the server refuses it or is gone
_RECENT_SECONDS = 45.0  # FLARE's heartbeats are 10 s apart, and a failed one is tried again after its timeout and 5 s
_CLOCK_SECONDS = 2.0  # how far two readings of a process' start may lie apart
_TAIL_BYTES = 400_000


def problem(workspace: Path) -> str | None:
    """What is wrong, in one line, or None.

    Args:
        workspace: the startup kit that the process runs in.
    """
    process = _standing_process(workspace)
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
    return _unregistered(workspace / "log.txt", started=process.create_time())


def _standing_process(workspace: Path) -> psutil.Process | None:
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if any(module in words for module in _MODULES) and str(workspace) in words:
            return process
    return None


def _server_port(workspace: Path) -> int | None:
    """From `"servers": [{"service": {"target": "host:port"}}]`, which both kinds of kit have."""
    for name in ("fed_client.json", "fed_server.json"):
        file = workspace / "startup" / name
        if file.is_file():
            servers = json.loads(file.read_text(encoding="utf-8")).get("servers", [])
            target = str(servers[0].get("service", {}).get("target", "")) if servers else ""
            port = target.rpartition(":")[2]
            return int(port) if port.isdigit() else None
    return None


def _unregistered(log: Path, *, started: float) -> str | None:
    """Why the site is not registered, by its log's last lines; remembered beside the log, since logs rotate."""
    marker = log.with_name("registered.txt")
    lines = _tail(log)
    if any(_REGISTERED in line and _time_of(line) >= started - _CLOCK_SECONDS for line in lines):
        marker.write_text(f"{started}\n", encoding="utf-8")
    elif not marker.is_file() or abs(float(marker.read_text(encoding="utf-8")) - started) > _CLOCK_SECONDS:
        return "connected, but not registered with the server yet"
    if any(_UNANSWERED in line and time.time() - _time_of(line) < _RECENT_SECONDS for line in lines):
        return "the server does not answer this site's heartbeats"
    return None


def _tail(file: Path) -> list[str]:
    if not file.is_file():
        return []
    with file.open("rb") as stream:
        stream.seek(max(0, file.stat().st_size - _TAIL_BYTES))
        return stream.read().decode("utf-8", errors="replace").splitlines()


def _time_of(line: str) -> float:
    """Seconds since the epoch of a line of FLARE's log, `2026-01-31 12:00:00,123 - ...`; 0 where it has none."""
    try:
        return datetime.strptime(line[:23], "%Y-%m-%d %H:%M:%S,%f").timestamp()
    except ValueError:
        return 0.0


def main() -> int:
    """The command line: one argument, the workspace."""
    found = problem(Path(sys.argv[1]))
    sys.stdout.write(f"{found or 'registered'}\n")
    return 0 if found is None else 1


if __name__ == "__main__":
    sys.exit(main())
