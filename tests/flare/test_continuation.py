"""A job that goes on with a run, as it is written: what is in it, and who gets it."""

import json
from pathlib import Path

import pytest

from support.loopback import SITES, Federation, quick_study
from wardround.flare.continuation import Continuation
from wardround.flare.recipe import StudyRecipe
from wardround.flare.server_checkpoint import load_server_checkpoint
from wardround.records.server_state import FOLDER


@pytest.fixture
def job(tmp_path: Path) -> Path:
    study = quick_study(training__rounds=1, federation={"quorum": 4})
    run = Federation(tmp_path / "run", quick_study(training__rounds=1), SITES, tamper=_no_scores).run()
    assert run.end.status == "partial"
    found = load_server_checkpoint(run.run_folder / FOLDER)
    continuation = Continuation(run.run_folder / FOLDER, found.state, len(found.lines), ("hospital-c",), "it failed")
    assert continuation.sites == ["hospital-a", "hospital-b"]
    StudyRecipe(study, sites=continuation.sites, run_name="run", continuation=continuation).export(str(tmp_path / "j"))
    return tmp_path / "j" / study.name


def _no_scores(site: str, task: str, answer: object) -> object:
    return None if (site, task) == ("hospital-b", "validate") else answer


def test_only_the_server_gets_the_checkpoint_with_every_sites_figures(job: Path) -> None:
    apps = json.loads((job / "meta.json").read_text())["deploy_map"]
    assert apps.pop("app_server") == ["server"]
    assert apps == {f"app_{site}": [site] for site in ("hospital-a", "hospital-b")}
    kinds = sorted(file.name.split("-")[0] for file in (job / "app_server" / "config" / FOLDER).iterdir())
    assert kinds == ["best", "model", "record", "state"]
    for app in apps:
        assert sorted(file.name for file in (job / app).rglob("*.*")) == ["config_fed_client.json", "job.yaml"]


def test_the_job_holds_one_checkpoint_and_says_how_it_goes_on(job: Path, tmp_path: Path) -> None:
    config = job / "app_server" / "config"
    assert load_server_checkpoint(config / FOLDER).state.rounds_done == 1
    (workflow,) = json.loads((config / "config_fed_server.json").read_text())["workflows"]
    assert workflow["args"]["left_out"] == ["hospital-c"]
    assert workflow["args"]["resumed_because"] == "it failed"
    assert workflow["args"]["expected_sites"] == ["hospital-a", "hospital-b"]
