import pytest

from wardround.records.inspection import Severity
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.opt_out import opt_out_notes, read_opt_out


def test_a_list_has_an_id_a_line_and_may_have_remarks(tmp_path):
    file = tmp_path / "opted-out.txt"
    file.write_bytes("\ufeff# by telephone\n  0012 \n\nMüller 7\r\n0012\n".encode())
    assert read_opt_out(file) == {"0012", "Müller 7"}


def test_without_a_list_nobody_opted_out():
    assert read_opt_out(None) == frozenset()
    assert opt_out_notes(None, (), ()) == []


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00"])
def test_a_list_that_cannot_be_read_lets_nothing_be_used(tmp_path, content):
    file = tmp_path / "opted-out.txt"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(WardroundError) as caught:
        read_opt_out(file)
    assert caught.value.code is Reason.DATA_MISSING
    assert "opt_out_file" in str(caught.value)


def test_notes_count_who_is_left_out_and_which_ids_are_nobodys(tmp_path):
    notes = opt_out_notes(tmp_path, {"a", "b", "c"}, ["b"])
    assert [(note.severity, note.kind, note.count) for note in notes] == [
        (Severity.NOTE, Reason.OPTED_OUT, 1),
        (Severity.NOTE, Reason.OPTED_OUT, 2),
    ]
    assert not any(id_ in str(note) for note in notes for id_ in ("'a'", "'b'", "'c'"))
