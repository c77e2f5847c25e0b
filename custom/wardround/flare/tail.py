"""Follows a growing run.jsonl and hands over each new complete line."""

from collections.abc import Callable
from pathlib import Path

from wardround.records.run_lines import EndLine, RunLine, read_lines


class Tail:
    """Reads what was added since the last look.

    Args:
        find: gives the record's path, which may not exist yet.
        on_line: gets each line once.
        known: how many lines it begins with that were handed over before.
    """

    def __init__(self, find: Callable[[], Path | None], on_line: Callable[[RunLine], None], known: int = 0) -> None:
        self._find, self._on_line = find, on_line
        self.seen = known
        self._size = -1
        self.end: EndLine | None = None

    def look(self) -> None:
        """Hands over the new lines, if any."""
        file = self._find()
        if file is None or not file.is_file():
            return
        size = file.stat().st_size
        if size == self._size:
            return
        self._size = size
        lines = read_lines(file)
        for line in lines[self.seen :]:
            self.seen += 1
            if isinstance(line, EndLine):
                self.end = line
            self._on_line(line)
