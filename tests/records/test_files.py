"""A file is whole or absent; what a hospital keeps is for its own user."""

from pathlib import Path

import pytest

from wardround.records.files import private_folder, whole_file, write_whole


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


def test_no_other_user_reads_a_private_folder(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    folder = private_folder(tmp_path / "state" / "run")
    assert [one.stat().st_mode & 0o777 for one in (tmp_path, folder.parent, folder)] == [0o755, 0o700, 0o700]
    assert private_folder(folder) == folder
