"""Which release is current: forward by a release, back by a rollback, and each step written down."""

import json
import shutil
from pathlib import Path

import pytest

from wardround.records.reasons import Reason, WardroundError
from wardround.releases.checksums import LIST, checksums
from wardround.releases.facts import FACTS, ReleaseFacts
from wardround.releases.history import point_forward, read_history, roll_back


def released(folder: Path, *versions: str) -> Path:
    for version in versions:
        history = read_history(folder)
        fill(folder / version, folder.name, version)
        point_forward(folder, history, version, who="Ada", why="released")
    return folder


def fill(folder: Path, study: str, version: str) -> None:
    folder.mkdir(parents=True)
    (folder / "model.json").write_text(version)
    facts = {"study": study, "version": version, "run": "r", "arm": "best", "model_round": 3, "approver": "Ada"}
    digests = dict.fromkeys(("study_sha256", "contract_sha256", "weights_sha256", "key_sha256"), "d")
    made = ReleaseFacts(**facts, **digests, released="2026-01-01", statistics=False)
    (folder / FACTS).write_text(made.model_dump_json())
    (folder / LIST).write_text(checksums(folder))


def test_a_rollback_goes_back_one_and_tells_who_and_why(tmp_path: Path) -> None:
    folder = released(tmp_path / "study", "v1", "v2")
    roll_back(tmp_path, folder.name, who="Bo", why="worse at hospital-b")
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
    assert [roll_back(tmp_path, folder.name, who="Bo", why="").current for _ in range(2)] == ["v2", "v1"]
    with pytest.raises(WardroundError, match="no release before v1"):
        roll_back(tmp_path, folder.name, who="Bo", why="")
    assert read_history(folder).current == "v1"


def test_a_release_after_a_rollback_never_leads_back_to_the_one_that_was_taken_back(tmp_path: Path) -> None:
    folder = released(tmp_path / "study", "v1", "v2")
    roll_back(tmp_path, folder.name, who="Bo", why="")
    released(folder, "v3")
    assert read_history(folder).current == "v3"
    assert roll_back(tmp_path, folder.name, who="Bo", why="").current == "v1"


@pytest.mark.parametrize("damage", ["changed", "gone"])
def test_it_never_points_to_a_release_that_is_not_whole(tmp_path: Path, damage: str) -> None:
    folder = released(tmp_path / "study", "v1", "v2")
    model = folder / "v1" / "model.json"
    model.write_text("other") if damage == "changed" else model.unlink()
    with pytest.raises(WardroundError, match=r"model\.json: (changed|missing)"):
        roll_back(tmp_path, folder.name, who="Bo", why="")
    assert read_history(folder).current == "v2"


def test_a_study_without_releases_or_with_a_broken_history_is_told(tmp_path: Path) -> None:
    with pytest.raises(WardroundError, match="no release of this study is there, but of no other"):
        roll_back(tmp_path, "none", who="Bo", why="")
    folder = released(tmp_path / "study", "v1")
    (folder / "current").write_text("v1")
    with pytest.raises(WardroundError, match="not the history") as caught:
        read_history(folder)
    assert caught.value.code is Reason.DATA_UNREADABLE


def test_an_older_release_under_a_newer_name_is_not_gone_back_to(tmp_path: Path) -> None:
    folder = released(tmp_path / "study", "v1", "v2", "v3")
    shutil.rmtree(folder / "v2")
    shutil.copytree(folder / "v1", folder / "v2")
    with pytest.raises(WardroundError, match=r"v2: .*expected v2, as the folder is named, found v1: it is another"):
        roll_back(tmp_path, "study", who="Bo", why="")
    assert read_history(folder).current == "v3"


@pytest.mark.parametrize("name", ["/tmp", "..", "", ".", "a/b", "Study", "study\n"])
def test_what_is_no_study_is_refused_and_nothing_is_written(tmp_path: Path, name: str) -> None:
    (tmp_path / "releases").mkdir()
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(WardroundError, match="expected a study's name"):
        roll_back(tmp_path / "releases", name, who="Bo", why="")
    assert sorted(tmp_path.rglob("*")) == before


def test_a_lost_or_another_studys_history_is_not_taken_for_an_empty_one(tmp_path: Path) -> None:
    folder = released(tmp_path / "study", "v1", "v2")
    history = (folder / "current").read_text()
    (folder / "current").write_text(history.replace('"study": "study"', '"study": "other"'))
    with pytest.raises(WardroundError, match="study: expected study, as the folder is named, found other"):
        roll_back(tmp_path, "study", who="Bo", why="")
    (folder / "current").unlink()
    with pytest.raises(WardroundError, match=r"current: missing, though v1, v2 are there: .* restore it from a copy"):
        roll_back(tmp_path, "study", who="Bo", why="")
    (folder / "current").mkdir()
    with pytest.raises(WardroundError, match=r"current: not the history .*: Is a directory; restore it from a copy"):
        roll_back(tmp_path, "study", who="Bo", why="")
