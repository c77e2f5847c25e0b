"""What processes were started with."""

import contextlib

import psutil


def command_line(process: psutil.Process) -> list[str]:
    """A process's command and arguments; of one that has ended since it was listed, none."""
    with contextlib.suppress(psutil.Error):
        return process.cmdline()
    return []
