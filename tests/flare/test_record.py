from pathlib import Path

import pytest

from wardround.flare.follower import Follower
from wardround.flare.record import ANSWERS_FILE, RunRecord
from wardround.flare.tail import AnswersFile
from wardround.records.run_lines import EndLine, read_lines
from wardround.records.task_answers import TaskAnswers


def test_a_line_that_cannot_be_written_is_written_with_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = RunRecord(tmp_path)
    record.fail("first")

    def full(_record: RunRecord) -> None:
        with _record.file.open("ab") as stream:
            stream.write(b'{"kind": "en')  # what fitted
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(RunRecord, "_flush", full)
        record.fail("second")
    assert record.unwritten
    assert [_reason(line) for line in read_lines(record.file)] == ["first"]
    assert record.stats()["line_count"] == 2
    record.fail("third")
    assert not record.unwritten
    assert [_reason(line) for line in read_lines(record.file)] == ["first", "second", "third"]


def test_a_record_goes_on_with_an_earlier_jobs_lines(tmp_path: Path) -> None:
    earlier = RunRecord(tmp_path / "first")
    earlier.fail("first")
    record = RunRecord(tmp_path / "second")
    record.restore(earlier.content(), 1, ["hospital-a: late"], seconds=100.0)
    assert record.stats()["line_count"] == 1
    record.fail("second")
    lines = read_lines(record.file)
    assert [_reason(line) for line in lines] == ["first", "second"]
    last = lines[-1]
    assert isinstance(last, EndLine)
    assert last.reasons == ["second", "hospital-a: late"]
    assert last.seconds >= 100


def _reason(line: object) -> str:
    assert isinstance(line, EndLine)
    return line.reasons[0]


def test_who_has_answered_is_seen_beside_the_record_and_from_afar_once(tmp_path: Path) -> None:
    record = RunRecord(tmp_path)
    near: list[TaskAnswers] = []
    far: list[TaskAnswers] = []
    file = AnswersFile(tmp_path / ANSWERS_FILE, near.append)
    follower = Follower(lambda _line: None, on_answers=far.append)
    file.look()
    asked = TaskAnswers(task="train", round=0, asked=("hospital-a", "hospital-b"))
    for told in (asked, asked, asked.model_copy(update={"answered": ("hospital-b",)})):
        record.answers(told)
        file.look()
        follower.look({"server": {"RoundController": record.stats()}})
    follower.look({"answers": {"of": "another version"}})
    assert near == far == [asked, asked.model_copy(update={"answered": ("hospital-b",)})]
    assert not record.file.exists()  # it is no part of the record
