"""`wardround site outbox`: the admin sees what left, from a kit or from the site's own folder."""

import json
import shutil
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from support.looks import a_look
from support.provisioned import CONFIGS
from wardround.cli.main import app
from wardround.flare.install import install_folder
from wardround.records.outbox import OutboxLine, SentTensor
from wardround.site.outbox import write_line

MANIFEST = {
    "counts": {"train_patients": 21, "test_patients": 0},
    "banded": {"left_out": [1, 4], "test_cases": [1, None]},
    "banded_problems": {"data_missing": [1, 4]},
    "suppressed": ["column_age"],
    "monitoring": a_look("one").model_dump(mode="json"),
}
TRAINED = {
    "report": {"patients": 21, "steps": 4, "loss": 0.25},
    "records": [
        {"name": "dice_wt", "value": 0.5, "status": "ok"},
        {"name": "dice_et", "value": None, "status": "suppressed"},
    ],
}
LINES = [
    OutboxLine(time="2030-01-01T08:00:00.123+00:00", site="a", run="one", task="prepare", reply={"manifest": MANIFEST}),
    OutboxLine(
        time="2030-01-01T09:00:00.123+00:00",
        site="a",
        run="one",
        task="train",
        round=0,
        kind="WEIGHT_DIFF",
        reply=TRAINED,
        weights=[
            SentTensor(name=name, dtype="float32", shape=[1], norm=norm, sha256="ab")
            for name, norm in (("w", 3.0), ("b", 4.0))
        ],
    ),
    OutboxLine(
        time="2030-01-01T10:00:00.123+00:00", site="a", run="two", task="train", round=0, reply={"error": "late"}
    ),
    OutboxLine(time="2030-01-01T11:00:00.123+00:00", site="a", run="two", task="train", round=1, code="FLARE"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    source = Path(shutil.copytree(CONFIGS / "hospital-a", tmp_path / "own"))
    settings = yaml.safe_load((source / "site.yaml").read_text())
    (source / "site.yaml").write_text(yaml.safe_dump({**settings, "state_folder": "state"}))
    for line in LINES:
        write_line(source / "state", line)
    return source


def _shown(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["site", "outbox", *arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_each_message_is_told_in_a_few_lines(folder: Path) -> None:
    assert _shown(str(folder)).splitlines() == [
        "2030-01-01T08:00:00  one  prepare",
        "  counts      21 train patients, 1 to 4 left out, at least 1 test cases",
        "  left out    1 to 4 data missing",
        "  monitoring  release v2 on 53 cases of 40 patients, 2030-01-31; no longer met: brier; "
        "inputs: 1 moved much, 1 moved moderately, 2 stable",
        "  held back   column_age",
        "2030-01-01T09:00:00  one  train  round 1",
        "  training    21 patients, 4 steps, loss 0.25",
        "  figures     dice_wt 0.5, dice_et suppressed",
        "  weights     WEIGHT_DIFF, 2 arrays, L2 norm 5",
        "2030-01-01T10:00:00  two  train  round 1",
        "  nothing but the reason code late",
        "2030-01-01T11:00:00  two  train  round 2",
        "  nothing but FLARE's return code (FLARE)",
    ]


def test_the_newest_of_one_run_and_all_of_a_message(folder: Path) -> None:
    assert _shown(str(folder / "site.yaml"), "--last", "1", "--run", "one").startswith("2030-01-01T09:00:00")
    whole = json.loads(_shown(str(folder), "--last", "1", "--run", "one", "--whole"))
    assert OutboxLine.model_validate(whole) == LINES[1]


def test_a_kit_is_named_as_well(folder: Path, kits: Path, tmp_path: Path) -> None:
    kit = Path(shutil.copytree(kits / "hospital-a", tmp_path / "hospital-a"))
    install_folder(kit, folder)
    assert _shown(str(kit)) == _shown(str(folder))


def test_nothing_has_left_yet_and_no_site_at_all(folder: Path, tmp_path: Path) -> None:
    (folder / "state" / "outbox.jsonl").unlink()
    assert "nothing has left" in _shown(str(folder))
    done = CliRunner().invoke(app, ["site", "outbox", str(tmp_path / "nowhere")])
    assert "expected a startup kit or a site.yaml" in f"{done.output}{done.exception}"
