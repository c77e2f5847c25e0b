"""A record followed from afar, through FLARE's `show_stats`."""

from collections.abc import Callable
from typing import Any

from pydantic import TypeAdapter, ValidationError

from wardround.flare.record import ANSWERS, LINE_COUNT, RECENT_LINES
from wardround.records.run_lines import RunLine
from wardround.records.task_answers import TaskAnswers

_LINE: TypeAdapter[RunLine] = TypeAdapter(RunLine)


class Follower:
    """Hands over each line of a record once, from overlapping looks at its newest lines.

    Args:
        on_line: gets each line.
        known: how many lines the record begins with that were handed over before.
        on_answers: gets who has answered the newest order, after the lines, whenever that has changed.
    """

    def __init__(
        self,
        on_line: Callable[[RunLine], None],
        *,
        known: int = 0,
        on_answers: Callable[[TaskAnswers], None] | None = None,
    ) -> None:
        self._on_line, self._on_answers = on_line, on_answers
        self._seen = known
        self._answers: TaskAnswers | None = None

    def look(self, stats: Any) -> None:
        """Takes `show_stats`' answer: a tree in which one branch is the controller's."""
        for node in _nodes(stats):
            if RECENT_LINES in node:
                recent = node[RECENT_LINES]
                first = node[LINE_COUNT] - len(recent)
                if first <= self._seen:  # else lines were missed: they come with the result, in their order
                    for text in recent[self._seen - first :]:
                        self._hand_over(_LINE.validate_json(text))
            if ANSWERS in node:
                self._hand_over_answers(node[ANSWERS])

    def rest(self, lines: list[RunLine]) -> None:
        """Takes the whole record."""
        for line in lines[self._seen :]:
            self._hand_over(line)

    def _hand_over_answers(self, told: Any) -> None:
        try:
            answers = TaskAnswers.model_validate(told)
        except ValidationError:  # of a server with another version: no sign of life is worth an error
            return
        if answers != self._answers and self._on_answers:
            self._on_answers(answers)
        self._answers = answers

    def _hand_over(self, line: RunLine) -> None:
        self._seen += 1
        self._on_line(line)


def _nodes(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, dict):
        return []
    return [value, *(node for child in value.values() for node in _nodes(child))]
