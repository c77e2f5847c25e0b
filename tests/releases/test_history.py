"""Which release is current: forward by a release, back by a rollback, and each step written down."""

import json
from pathlib import Path

import pytest

from wardround.records.reasons import Reason, WardroundError
from wardround.releases.checksums import LIST, checksums
from wardround.releases.history import point_forward, read_history, roll_back


def released(folder: Path, *versions: str) -> Path:
    for version in versions:
        (folder / version).mkdir(parents=True)
        (folder / version / "model.json").write_text(version)
        (folder / version / LIST).write_text(checksums(folder / version))
        point_forward(folder, version, who="Ada", why="released")
    return folder


def test_a_rollback_goes_back_one_and_tells_who_and_why(tmp_path: Path) -> None:
    folder = released(tmp_path / "study", "v1", "v2")
    roll_back(folder, who="Bo", why="worse at hospital-b")
    told = json.loads((folder / "current").read_text())
    assert (told["study"], told["current"]) == ("study", "v1")
    last = told["history"][-1]
    assert {key: last[key] for key in ("action", "who", "from", "to", "why")} == {
        "action": "rollback", "who": "Bo", "from": "v2", "to": "v1", "why": "worse at hospital-b"
    }  # fmt: skip
    assert len(told["history"]) == 3
    assert last["time"].endswith("+00:00")


def test_two_rollbacks_go_back_two_and_a_third_has_nowhere_to_go(tmp_path: Path) -> None:
    folder = released(tmp_path / "study", "v1", "v2", "v3")
    assert [roll_back(folder, who="Bo", why="").current for _ in range(2)] == ["v2", "v1"]
    with pytest.raises(WardroundError, match="no release before v1"):
        roll_back(folder, who="Bo", why="")
    assert read_history(folder).current == "v1"


def test_a_release_after_a_rollback_never_leads_back_to_the_one_that_was_taken_back(tmp_path: Path) -> None:
    folder = released(tmp_path / "study", "v1", "v2")
    roll_back(folder, who="Bo", why="")
    released(folder, "v3")
    assert read_history(folder).current == "v3"
    assert roll_back(folder, who="Bo", why="").current == "v1"


@pytest.mark.parametrize("damage", ["changed", "gone"])
def test_it_never_points_to_a_release_that_is_not_whole(tmp_path: Path, damage: str) -> None:
    folder = released(tmp_path / "study", "v1", "v2")
    model = folder / "v1" / "model.json"
    model.write_text("other") if damage == "changed" else model.unlink()
    with pytest.raises(WardroundError, match=r"model\.json: (changed|missing)"):
        roll_back(folder, who="Bo", why="")
    assert read_history(folder).current == "v2"


def test_a_study_without_releases_or_with_a_broken_history_is_told(tmp_path: Path) -> None:
    with pytest.raises(WardroundError, match="no release of this study is there, but of no other"):
        roll_back(tmp_path / "none", who="Bo", why="")
    folder = released(tmp_path / "study", "v1")
    (folder / "current").write_text("v1")
    with pytest.raises(WardroundError, match="not the history") as caught:
        read_history(folder)
    assert caught.value.code is Reason.DATA_UNREADABLE
