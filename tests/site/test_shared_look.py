"""What the admin shared is kept for the study's jobs, and only what is a look at that study's release is sent."""

import logging
from pathlib import Path

import pytest

from support.looks import a_look
from wardround.site.shared_look import keep_look, look_file, shared_look, shared_looks


def test_what_was_shared_last_is_kept_for_the_study_alone_and_for_its_owner(tmp_path: Path) -> None:
    keep_look(tmp_path / "state", a_look("risk", version="v1"))
    file = keep_look(tmp_path / "state", a_look("risk"))
    keep_look(tmp_path / "state", a_look("tumor"))
    assert shared_look(tmp_path / "state", "risk") == a_look("risk")
    assert [one.study for one in shared_looks(tmp_path / "state")] == ["risk", "tumor"]
    assert file.stat().st_mode & 0o077 == file.parent.stat().st_mode & 0o077 == 0


def test_without_the_file_there_is_nothing_to_send(tmp_path: Path) -> None:
    file = keep_look(tmp_path, a_look("risk"))
    file.unlink()
    assert shared_look(tmp_path, "risk") is None
    assert shared_looks(tmp_path) == []


@pytest.mark.parametrize(
    "content", ["", "{}", a_look("risk").model_dump_json()[:-9], a_look("tumor").model_dump_json()]
)
def test_what_is_no_look_or_one_at_another_study_is_not_sent_and_the_log_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, content: str
) -> None:
    file = look_file(tmp_path, "risk")
    file.parent.mkdir()
    file.write_text(content)
    with caplog.at_level(logging.WARNING):
        assert shared_look(tmp_path, "risk") is None
    assert str(file) in caplog.text
    assert "not sent" in caplog.text
