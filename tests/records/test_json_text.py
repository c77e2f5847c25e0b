"""Whatever is wrong with a JSON file is told in one line that names it."""

from pathlib import Path

import pytest
from pydantic import BaseModel, TypeAdapter

from wardround.records.json_text import checked_json, plain, read_json
from wardround.records.reasons import WardroundError


class Numbers(BaseModel):
    """One key."""

    numbers: list[int]


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff\xfe\x00", b"null", b"3", b"[]", b"{}", b'{"numbers": 3}', b'{"numbers": ["x"]}', b"[" * 9999],
)
def test_what_is_wrong_is_one_line_with_the_files_name(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "some.json"
    file.write_bytes(content)
    for read in (read_json, checked_json):
        with pytest.raises(WardroundError, match=r"some\.json: ") as caught:
            read(file, Numbers, advice="ask for it again")
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["missing", "folder", "loop"])
def test_a_file_that_cannot_be_read_is_told_with_what_to_do(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "some.json"
    if kind == "folder":
        file.mkdir()
    elif kind == "loop":
        file.symlink_to(file)
    with pytest.raises(WardroundError, match="ask for it again"):
        read_json(file, Numbers, advice="ask for it again")


def test_what_the_model_does_not_name_is_kept_in_its_place(tmp_path: Path) -> None:
    file = tmp_path / "some.json"
    file.write_text('{"first": 1, "numbers": [2], "last": 3}')
    assert list(checked_json(file, Numbers, advice="").items()) == [("first", 1), ("numbers", [2]), ("last", 3)]
    assert read_json(file, Numbers, advice="") == Numbers(numbers=[2])


@pytest.mark.parametrize("text", ["", "{", b"\xff", "[1, null]", '["x"]', "3"])
def test_a_piece_that_is_not_of_its_kind_is_none(text: str | bytes) -> None:
    assert plain(text, TypeAdapter(list[int])) is None
    assert plain("[1, 2]", TypeAdapter(list[int])) == [1, 2]
