"""Follows a growing run.jsonl and hands over each new complete line; and the file beside it that changes."""

from collections.abc import Callable
from pathlib import Path

from wardround.records.run_lines import EndLine, RunLine, read_lines
from wardround.records.task_answers import TaskAnswers


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


class AnswersFile:
    """Reads who has answered the server's newest order.

    Args:
        file: which the server replaces as a whole, and which may not exist yet.
        on_answers: gets what it says, whenever that has changed.
    """

    def __init__(self, file: Path, on_answers: Callable[[TaskAnswers], None] | None) -> None:
        self._file, self._on_answers = file, on_answers
        self._content = b""

    def look(self) -> None:
        """Hands over what is new, if anything is."""
        if self._on_answers is None or not self._file.is_file():
            return
        content = self._file.read_bytes()
        if content != self._content:
            self._content = content
            self._on_answers(TaskAnswers.model_validate_json(content))
