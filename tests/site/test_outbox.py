"""The outbox: whole lines on the disk, or none."""

import errno
import multiprocessing
import os
import stat
from pathlib import Path

import pytest

from wardround.records.outbox import FILE_NAME, OutboxLine, SentTensor
from wardround.site.outbox import read_lines, write_line

LINE = OutboxLine(
    time="2030-01-01T00:00:00.000+00:00",
    site="hospital-a",
    task="train",
    round=0,
    reply={"records": [{"name": "dice_wt", "value": 0.5}]},
    weights=[SentTensor(name="first.weight", dtype="float32", shape=[2], norm=5.0, sha256="ab")],
)


def test_lines_are_read_back_as_they_were_written_and_only_the_owner_may_read_them(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    other = LINE.model_copy(update={"round": 1, "reply": None})
    write_line(folder, LINE)
    write_line(folder, other)
    assert list(read_lines(folder)) == [LINE, other]
    assert stat.S_IMODE((folder / FILE_NAME).stat().st_mode) == 0o600
    assert list(read_lines(tmp_path / "nowhere")) == []


def test_a_line_that_a_kill_cut_short_spoils_no_other(tmp_path: Path) -> None:
    write_line(tmp_path, LINE)
    with (tmp_path / FILE_NAME).open("a") as stream:
        stream.write('{"time": "2030')
    write_line(tmp_path, LINE)
    assert list(read_lines(tmp_path)) == [LINE, LINE]


def test_a_full_disk_leaves_the_lines_before_and_nothing_of_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_line(tmp_path, LINE)
    before = (tmp_path / FILE_NAME).read_bytes()
    real, calls = os.write, []

    def half(descriptor: int, content: bytes) -> int:
        calls.append(len(content))
        if len(calls) > 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(descriptor, content[: len(content) // 2])

    monkeypatch.setattr(os, "write", half)
    with pytest.raises(OSError, match="No space"):
        write_line(tmp_path, LINE)
    assert len(calls) == 2
    assert (tmp_path / FILE_NAME).read_bytes() == before


def _write_many(folder: Path) -> None:
    for _ in range(20):
        write_line(folder, LINE)


def test_jobs_at_the_same_time_do_not_mix_their_lines(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_write_many, args=(tmp_path,)) for _ in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert list(read_lines(tmp_path)) == [LINE] * 60
