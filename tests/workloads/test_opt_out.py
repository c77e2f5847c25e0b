from pathlib import Path

import pytest

from wardround.records.inspection import Severity
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.opt_out import opt_out_notes, read_opt_out, refuse_opted_out
from wardround.workloads.opt_out_spelling import Line


def test_a_list_has_an_id_a_line_and_may_have_remarks(tmp_path):
    file = tmp_path / "opted-out.txt"
    file.write_bytes("\ufeff# by telephone\n  0012 \n\nMüller 7\r\n0012\n".encode())
    assert read_opt_out(file) == {"0012": Line(2), "Müller 7": Line(4)}


def test_an_id_that_was_looked_up_is_marked(tmp_path):
    file = tmp_path / "opted-out.txt"
    file.write_text("= 7\n=p 12\n8\n=\n= 8\n")
    marked = {"7": Line(1, marked=True), "p 12": Line(2, marked=True), "8": Line(3), "=": Line(4, marked=True)}
    assert read_opt_out(file) == marked
    with pytest.raises(WardroundError, match="its patient opted out"):
        refuse_opted_out(file, "7", tmp_path)


def test_without_a_list_nobody_opted_out():
    assert read_opt_out(None) == {}
    assert opt_out_notes(None, {}, ()) == []


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00", "Müller".encode("latin-1"), "12\n".encode("utf-16")])
def test_a_list_that_cannot_be_read_lets_nothing_be_used(tmp_path, content):
    file = tmp_path / "opted-out.txt"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(WardroundError) as caught:
        read_opt_out(file)
    assert caught.value.code is Reason.DATA_MISSING
    assert "opt_out_file" in str(caught.value)


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (PermissionError(13, "Permission denied"), "let this user read it"),
        (FileNotFoundError(2, "No such file"), "put it"),
    ],
)
def test_what_to_do_about_a_list_that_cannot_be_read_is_never_to_do_without(tmp_path, monkeypatch, failure, told):
    monkeypatch.setattr(Path, "exists", lambda _: (_ for _ in ()).throw(failure))
    with pytest.raises(WardroundError, match=told) as caught:
        read_opt_out(tmp_path / "opted-out.txt")
    assert "site.yaml" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "told"),
    [("7\n12\n".encode("utf-16-le"), "line 1 has signs that are no text"), (b"7\n1\x002\n", "line 2 has signs")],
)
def test_bytes_that_happen_to_be_utf_8_are_no_ids(tmp_path, content, told):
    file = tmp_path / "opted-out.txt"
    file.write_bytes(content)
    with pytest.raises(WardroundError, match=told) as caught:
        read_opt_out(file)
    assert caught.value.code is Reason.DATA_UNREADABLE


def test_a_file_that_is_too_large_for_a_list_is_not_read(tmp_path):
    file = tmp_path / "opted-out.txt"
    with file.open("wb") as stream:
        stream.truncate(1 << 40)  # of nothing, so that it takes no room
    with pytest.raises(WardroundError, match="1,099,511,627,776 bytes"):
        read_opt_out(file)


def test_notes_count_who_is_left_out_and_which_ids_are_nobodys(tmp_path):
    notes = opt_out_notes(tmp_path, {"a": Line(1), "b": Line(2), "c": Line(3)}, ["b", "d"])
    assert [(note.severity, note.kind, note.count) for note in notes] == [
        (Severity.NOTE, Reason.OPTED_OUT, 1),
        (Severity.NOTE, Reason.OPTED_OUT, 2),
    ]
    assert not any(id_ in str(note) for note in notes for id_ in ("'a'", "'b'", "'c'"))


def test_an_empty_list_is_told(tmp_path):
    (note,) = opt_out_notes(tmp_path, {}, ["b"])
    assert "the list is empty, so nobody is left out" in str(note)


def test_nothing_is_done_with_one_patient_of_the_list(tmp_path):
    file = tmp_path / "opted-out.txt"
    file.write_text("P-1\n")
    refuse_opted_out(file, "P-2", tmp_path)
    refuse_opted_out(None, "P-1", tmp_path)
    with pytest.raises(WardroundError, match="its patient opted out"):
        refuse_opted_out(file, "P-1", tmp_path)
    file.write_text("P-2; of another list\np1\n")  # of one patient nobody can tell what others' ids look like
    with pytest.raises(WardroundError, match="line 2: a patient's id, but written otherwise"):
        refuse_opted_out(file, "P-1", tmp_path)
    file.write_text("= p1\n")
    refuse_opted_out(file, "P-1", tmp_path)
