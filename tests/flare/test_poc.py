"""What a POC system does before FLARE is asked for anything."""

from pathlib import Path

import pytest

from wardround.flare.poc import PocSystem
from wardround.records.reasons import Reason, WardroundError


def test_a_folder_that_is_no_poc_system_is_not_deleted(tmp_path: Path) -> None:
    folder = tmp_path / "thesis"
    folder.mkdir()
    (folder / "chapter-1.txt").write_text("years of work")
    with pytest.raises(WardroundError, match="name a new folder") as caught:
        PocSystem(folder, tmp_path / "flare.log").prepare([])
    assert caught.value.code == Reason.ENVIRONMENT_INVALID
    assert (folder / "chapter-1.txt").read_text() == "years of work"


def test_a_folder_of_an_earlier_system_and_an_empty_one_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PocSystem, "_nvflare", lambda *_, **__: None)
    monkeypatch.setattr("wardround.flare.poc.install", lambda _folder: None)
    (tmp_path / "system").mkdir()
    for _ in range(2):
        PocSystem(tmp_path / "system", tmp_path / "flare.log").prepare([])
    assert (tmp_path / "system" / "project.yml").is_file()
