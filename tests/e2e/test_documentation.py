"""Every command that README.md and the pages of docs/ show runs as it stands there, one after the other, in one folder.

Only the amount of work is cut, in the copies of the studies and the data; the commands are not touched.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.documentation import blocks, rules
from support.shell import Shell
from wardround.flare.server_port import free_port
from wardround.flare.workspace import workspace

pytestmark = pytest.mark.e2e

_JOB_ID = re.compile(r"job_id: ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    with workspace() as folder:
        shell = Shell(folder, ["jobs", "site_configs"])
        for file in folder.glob("jobs/*/job.yaml"):
            _change(file, _less_work)
        _change(folder / "site_configs" / "project.yml", _free_port)
        _change(folder / "site_configs" / "profile.yml", _another_free_port)
        try:
            shell.run(". .venv/bin/activate\nwardround synth brain-tumor demo/brain_tumor --size 24")
            shell.run("wardround synth clinical-risk demo/clinical_risk --rows 1200")  # enough for intervals everywhere
            yield shell
        finally:
            shell.children.end_all()


@pytest.fixture(scope="module")
def jobs() -> dict[str, str]:
    """What JOB_ID stands for: the newest job that a page submitted, also in the next page's blocks."""
    return {}


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("page", rules()["run_in_order"])
def test_the_commands_of_a_page_run(shell: Shell, jobs: dict[str, str], page: str) -> None:
    shown = [block for block in blocks(page) if not block.kind and not block.is_make]
    assert shown
    for block in shown:
        output = shell.run(block.text, jobs)
        if printed := _JOB_ID.findall(output):
            jobs["JOB_ID"] = printed[-1]


def test_what_the_readme_promises_is_there(shell: Shell) -> None:
    for file in (
        *("fedbn/report.html", "poc/report.html", "sweep/sweep.json", "local-head/report.html"),
        *("exported/brain_tumor/meta.json", "adapted.safetensors", "prediction.nii.gz"),
        *("bundle/configs/metadata.json", "poc/manifest.json"),
        *("../releases/my_study/v1/MODEL_CARD.md", "../releases/my_study/current"),
    ):
        assert (shell.folder / "results" / file).stat().st_size > 0


def _change(file: Path, change: Any) -> None:
    settings = yaml.safe_load(file.read_text(encoding="utf-8"))
    change(settings)
    file.write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")


def _less_work(study: dict[str, Any]) -> None:
    study["training"]["rounds"] = 1
    if study["training"].get("local_steps"):
        study["training"]["local_steps"] = 1
    study["evaluation"]["personalise_steps"] = 1
    criteria = study["acceptance"]  # a model of a few steps meets none that means something
    criteria["worst_site"] = {name: -100.0 if name == "brier_skill" else 0.0 for name in criteria["worst_site"]}
    criteria["worse_than_alone"] = dict.fromkeys(criteria["worse_than_alone"], 100.0)


def _free_port(project: dict[str, Any]) -> None:
    server = next(part for part in project["participants"] if part["type"] == "server")
    server["fed_learn_port"] = free_port()


def _another_free_port(profile: dict[str, Any]) -> None:
    profile["server"]["fed_learn_port"] = free_port()
