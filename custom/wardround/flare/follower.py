"""A record followed from afar, through FLARE's `show_stats`."""

from collections.abc import Callable
from typing import Any

from pydantic import TypeAdapter

from wardround.flare.record import LINE_COUNT, RECENT_LINES
from wardround.records.run_lines import RunLine

_LINE: TypeAdapter[RunLine] = TypeAdapter(RunLine)


class Follower:
    """Hands over each line of a record once, from overlapping looks at its newest lines."""

    def __init__(self, on_line: Callable[[RunLine], None], *, known: int = 0) -> None:
        self._on_line = on_line
        self._seen = known

    def look(self, stats: Any) -> None:
        """Takes `show_stats`' answer: a tree in which one branch is the controller's."""
        for node in _nodes(stats):
            if RECENT_LINES in node:
                recent = node[RECENT_LINES]
                first = node[LINE_COUNT] - len(recent)
                if first <= self._seen:  # else lines were missed: they come with the result, in their order
                    for text in recent[self._seen - first :]:
                        self._hand_over(_LINE.validate_json(text))

    def rest(self, lines: list[RunLine]) -> None:
        """Takes the whole record."""
        for line in lines[self._seen :]:
            self._hand_over(line)

    def _hand_over(self, line: RunLine) -> None:
        self._seen += 1
        self._on_line(line)


def _nodes(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, dict):
        return []
    return [value, *(node for child in value.values() for node in _nodes(child))]
