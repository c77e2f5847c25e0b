"""Where the command line writes: results to standard output, progress and errors to standard error."""

import sys
from typing import IO

from rich.console import Console

_WIDTH_IN_A_FILE = 140  # a log keeps whole table rows


def _console(stream: IO[str], *, stderr: bool = False) -> Console:
    return Console(stderr=stderr, highlight=False, width=None if stream.isatty() else _WIDTH_IN_A_FILE)


def results() -> Console:
    """For tables and paths that someone may pipe on."""
    return _console(sys.stdout)


def progress() -> Console:
    """For what is going on, and for errors."""
    return _console(sys.stderr, stderr=True)
