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
        if any(module in words for module in _MODULES) and _names(words, workspace.resolve()):
            return process
    return None


def _names(words: list[str], folder: Path) -> bool:
    """Whether an absolute path among them leads there: start scripts name a kit by whatever links lead to it."""
    return any(word.startswith("/") and Path(word).resolve() == folder for word in words)
