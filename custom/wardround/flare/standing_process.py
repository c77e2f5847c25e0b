"""The process of a startup kit that stands while jobs come and go: a server's or a hospital's.

A health check of a container imports this every few seconds, so it imports little.
"""

from pathlib import Path

import psutil

_MODULES = ("nvflare.private.fed.app.client.client_train", "nvflare.private.fed.app.server.server_train")


def standing_process(workspace: Path) -> psutil.Process | None:
    """The process that runs in this folder, as far as this user and this side of a container's wall can see."""
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if any(module in words for module in _MODULES) and {str(workspace), str(workspace.resolve())} & set(words):
            return process
    return None
