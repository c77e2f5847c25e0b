"""A file is whole or absent; what a hospital keeps is for its own user."""

import errno
import fcntl
import os
from pathlib import Path

import pytest

from wardround.records.files import give_to_owner, locked, private_file, private_folder, whole_file, write_whole


def test_a_failure_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "new" / "labels.nii.gz"
    write_whole(file, b"old")

    def half() -> None:
        with whole_file(file) as unfinished:
            assert unfinished.name.endswith(".nii.gz")
            unfinished.write_bytes(b"ha")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half()
    assert file.read_bytes() == b"old"
    assert list(file.parent.iterdir()) == [file]
    write_whole(file, b"new")
    assert file.read_bytes() == b"new"


@pytest.mark.parametrize(
    "failure", [OSError(errno.ENOSPC, "No space left on device"), OSError(errno.EIO, "Input/output error")]
)
def test_a_failure_of_the_disk_names_the_file_that_was_meant(tmp_path: Path, failure: OSError) -> None:
    file = tmp_path / "page.html"
    with pytest.raises(OSError, match=rf"{failure.strerror}: '{file}'$"), whole_file(file):
        raise failure
    file.mkdir()
    with pytest.raises(OSError, match=rf": '{file}'$"):  # which the rename refuses, of two files
        write_whole(file, b"new")
    assert list(tmp_path.iterdir()) == [file]


def test_a_failure_of_another_file_keeps_its_name(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"'absent\.txt'$"), whole_file(tmp_path / "page.html"):
        Path("absent.txt").read_bytes()


def test_no_other_user_reads_a_private_folder(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    folder = private_folder(tmp_path / "state" / "run")
    assert [one.stat().st_mode & 0o777 for one in (tmp_path, folder.parent, folder)] == [0o755, 0o700, 0o700]
    assert private_folder(folder) == folder


def test_no_other_user_reads_a_private_file_in_a_folder_that_all_may_read(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    page, log = tmp_path / "page.html", tmp_path / "site.log"
    page.touch(mode=0o644)
    write_whole(page, b"a slice", private=True)
    assert (page.read_bytes(), page.stat().st_mode & 0o777) == (b"a slice", 0o600)
    private_file(log).write_bytes(b"kept")
    assert (private_file(log).read_bytes(), log.stat().st_mode & 0o777) == (b"kept", 0o600)
    with whole_file(page, private=True) as unfinished:
        assert unfinished.stat().st_mode & 0o777 == 0o600  # while it is written, too


def test_a_lock_is_this_users_and_keeps_others_out(tmp_path: Path) -> None:
    file = tmp_path / "state" / ".lock"
    with locked(file), file.open("ab") as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with file.open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert file.stat().st_mode & 0o777 == 0o600


def test_what_root_makes_belongs_to_the_owner_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[str, int, int]] = []

    def note(descriptor: int, uid: int, gid: int) -> None:
        given.append((Path(f"/proc/self/fd/{descriptor}").readlink().name, uid, gid))

    monkeypatch.setattr(os, "fchown", note)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    write_whole(private_folder(tmp_path / "state") / "inspection.json", b"{}")
    assert given == []
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    write_whole(private_folder(tmp_path / "other") / "inspection.json", b"{}")
    owner = (tmp_path.stat().st_uid, tmp_path.stat().st_gid)
    assert [one[1:] for one in given] == [owner, owner]
    assert given[0][0] == "other"
    assert given[1][0].endswith(".inspection.json")  # before it takes its place


def test_root_gives_nothing_away_that_lies_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    foreign, linked, link = tmp_path / "shadow", tmp_path / "linked", tmp_path / "link"
    foreign.write_text("root's")
    link.symlink_to(foreign)
    os.link(foreign, linked)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(os, "fchown", lambda *_: pytest.fail("given away"))
    give_to_owner(linked)
    with pytest.raises(OSError, match=r"symbolic link"):
        give_to_owner(link)
