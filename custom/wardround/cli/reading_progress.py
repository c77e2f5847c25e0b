"""How far reading a site's data has come, on a terminal."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn


class ReadingProgress:
    """A bar that goes away when all is read; nothing where there is no terminal.

    Args:
        console: where to.
    """

    def __init__(self, console: Console) -> None:
        self._shown = Progress(
            TextColumn("{task.fields[told]}"),
            BarColumn(),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        self._shown.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._shown.stop()

    def __call__(self, what: str, done: int, total: int | None) -> None:
        """Such as `120 of 1,000 cases`."""
        told = f"{done:,} {what}" if total is None else f"{done:,} of {total:,} {what}"
        if what not in self._tasks:
            self._tasks[what] = self._shown.add_task(what, total=total, told=told)
        self._shown.update(self._tasks[what], completed=done, total=total, told=told)
