"""launch.json: what a damaged one is told with, and whether its folder is a copy."""

from pathlib import Path

import pytest

from wardround.records.launch import FILE_NAME, Launch, read_launch, write_launch
from wardround.records.reasons import WardroundError


@pytest.mark.parametrize("text", ["", "{", '{"environment": "sim"}', "not a mapping"])
def test_a_damaged_one_is_told_with_what_to_do(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE_NAME).write_text(text)
    with pytest.raises(WardroundError, match="copy the run's folder again"):
        read_launch(tmp_path)


def test_a_copy_knows_the_folder_that_it_is_of_while_that_is_there(tmp_path: Path) -> None:
    out, copy = tmp_path / "out", tmp_path / "copy"
    for folder in (out, copy):
        folder.mkdir()
        write_launch(folder, Launch(environment="sim", study="s", run="r", out=out))
    found = [read_launch(folder) for folder in (out, copy)]
    assert [one and one.original(folder) for one, folder in zip(found, (out, copy), strict=True)] == [None, out]
    out.rename(tmp_path / "moved")
    assert found[1] is not None
    assert found[1].original(copy) is None
