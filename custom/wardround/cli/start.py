"""What the command `wardround` runs first: Ctrl-C while the command line is still being loaded ends it quietly too."""

import sys

_INTERRUPTED = 130


def start() -> None:
    """Loads the command line and runs it."""
    try:
        from wardround.cli.main import app
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    app()
