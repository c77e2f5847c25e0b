"""How commands fail: one clear message, an exit code, no traceback."""

import errno
import os
from typing import Any

import typer
from rich.markup import escape
from typer.core import TyperGroup

from wardround.cli.console import progress
from wardround.records.reasons import Reason, WardroundError

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_PARTIAL = 3
EXIT_INTERRUPTED = 130
DEBUG_VARIABLE = "WARDROUND_DEBUG"


class ErrorGroup(TyperGroup):
    """Turns our errors, and the system's on files, into a message and exit code 2.

    Anything else is a fault of ours and keeps its traceback.
    """

    def invoke(self, ctx: Any) -> Any:
        """Runs the chosen command."""
        try:
            return super().invoke(ctx)
        except WardroundError as error:
            if debugging():
                raise
            tell(error)
            raise typer.Exit(EXIT_USAGE) from None
        except OSError as error:
            if debugging() or error.errno == errno.EPIPE:  # click itself ends quietly where a pipe's reader is gone
                raise
            tell(_of_a_file(error))
            raise typer.Exit(EXIT_USAGE) from None
        except KeyboardInterrupt:
            progress().print("[yellow]Stopped.[/]")
            raise typer.Exit(EXIT_INTERRUPTED) from None


def tell(error: WardroundError) -> None:
    """Prints the error with its code."""
    progress().print(f"[bold red]{error.code}[/] {escape(str(error))}", soft_wrap=True)


def _of_a_file(error: OSError) -> WardroundError:
    names = " to ".join(str(name) for name in (error.filename, error.filename2) if name is not None)
    what = error.strerror or f"{type(error).__name__}: {error}"
    return WardroundError(
        Reason.ENVIRONMENT_INVALID,
        f"{names + ': ' if names else ''}{what}; check the path, who may write it and the free space",
    )


def debugging() -> bool:
    """Whether tracebacks are wanted."""
    return os.environ.get(DEBUG_VARIABLE, "") not in ("", "0")
