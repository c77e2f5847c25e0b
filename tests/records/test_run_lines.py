"""The record survives a kill in the middle of a line."""

from pathlib import Path

import pytest

from wardround.records.reasons import Reason, WardroundError
from wardround.records.run_lines import EndLine, RoundLine, append_line, read_lines


def test_lines_come_back_and_a_line_cut_short_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    first = RoundLine(round=0, rounds=2, expected=["a", "b"], contributed=["a"], rejected={"b": "not_finite"})
    append_line(file, first)
    append_line(file, EndLine(status="partial", reasons=["b: not_finite"]))
    whole = file.read_text()
    assert [line.kind for line in read_lines(file)] == ["round", "end"]
    file.write_text(whole + whole[:30])
    lines = read_lines(file)
    assert len(lines) == 2
    assert lines[0] == first


@pytest.mark.parametrize(
    "line", [b"garbage", b"\xff\xfe\x00", b'{"kind": "feast"}', b'{"kind": "end", "status": "good"}']
)
def test_a_line_that_is_none_of_a_record_is_told_by_its_number(tmp_path: Path, line: bytes) -> None:
    file = tmp_path / "run.jsonl"
    append_line(file, EndLine(status="complete"))
    file.write_bytes(file.read_bytes() + line + b"\n")
    with pytest.raises(WardroundError, match=r"run\.jsonl, line 2: ") as raised:
        read_lines(file)
    assert raised.value.code is Reason.DATA_UNREADABLE
