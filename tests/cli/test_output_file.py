import os
from pathlib import Path

import pytest

from wardround.cli.output_file import PAGE, check_output_file
from wardround.records.reasons import WardroundError


@pytest.mark.parametrize("content", [b"patient,age\n1,50\n", b"name: hospital-a\n", b'{"modality": {}}'])
def test_a_file_that_the_command_did_not_write_stays(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "stays.csv"
    file.write_bytes(content)
    with pytest.raises(WardroundError, match=r"^--html .*stays\.csv: .* would be replaced; name a new file"):
        check_output_file(file, "--html", PAGE)


def test_a_new_file_an_earlier_page_and_a_new_folder_are_fine(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    for _ in range(2):
        check_output_file(page, "--html", PAGE)
        page.write_bytes(b"<!DOCTYPE html>\n<html></html>")
    (tmp_path / "empty").touch()
    check_output_file(tmp_path / "empty", "--html", PAGE)
    check_output_file(tmp_path / "new" / "folder" / "page.html", "--html", PAGE)
    check_output_file(None, "--html", PAGE)


def test_what_is_no_plain_file_or_cannot_be_written_is_told_beforehand(tmp_path: Path) -> None:
    (tmp_path / "dangling").symlink_to(tmp_path / "absent")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").touch()
    for place in (tmp_path, tmp_path / "pipe", tmp_path / "dangling", Path(os.devnull), tmp_path / "file" / "x.html"):
        with pytest.raises(WardroundError, match="--html"):
            check_output_file(place, "--html", PAGE)
