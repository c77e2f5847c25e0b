"""A record followed through FLARE's show_stats: every line once, in order, whatever was missed."""

from wardround.flare.session import Follower
from wardround.records.run_lines import EndLine, RoundLine, RunLine


def _lines(count: int) -> list[RunLine]:
    rounds = [RoundLine(round=i, rounds=count, expected=[], contributed=[]) for i in range(count - 1)]
    return [*rounds, EndLine(status="complete")]


def _stats(lines: list[RunLine], recent: int) -> dict[str, object]:
    texts = [line.model_dump_json() for line in lines[-recent:]]
    return {"server": {"stats": {"RoundController": {"line_count": len(lines), "recent_lines": texts}, "other": 3}}}


def test_each_line_is_handed_over_once_from_overlapping_looks() -> None:
    lines, seen = _lines(6), []
    follower = Follower(seen.append)
    for count in (1, 1, 3, 4):
        follower.look(_stats(lines[:count], recent=3))
    follower.rest(lines)
    assert seen == lines


def test_lines_that_were_missed_come_in_order_with_the_result() -> None:
    lines, seen = _lines(6), []
    follower = Follower(seen.append)
    follower.look(_stats(lines[:5], recent=2))  # three are gone already
    assert seen == []
    follower.rest(lines)
    assert seen == lines


def test_an_answer_without_ours_is_no_harm() -> None:
    follower = Follower(lambda _line: 1 / 0)
    follower.look({"server": {}})
    follower.look("not running")
