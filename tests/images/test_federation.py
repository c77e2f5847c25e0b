"""A server and three hospitals in containers, over mTLS: each job in containers of its own, from each site's image."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from support.containers import (
    HOSPITALS,
    OWNER,
    PARENTS,
    ROOT,
    Federation,
    docker,
    give,
    image,
    inspected,
    shell_with_studies,
)
from support.documentation import blocks_under
from support.engine_socket import socket_settings
from support.shell import Shell
from wardround.records.run_lines import EndLine, StartLine, read_lines

pytestmark = pytest.mark.images


PROVISION, KITS, START, RUN, MAKE_IMAGES, RUN_IMAGES, PREFLIGHT, STOP = blocks_under(
    "docs/containers.md", "A federation on one machine"
)
STUDIES = {"clinical_risk": ("first", "tabular"), "brain_tumor": ("images", "imaging")}  # results' folder, job's image


@pytest.fixture(scope="module")
def shell(shared_folder: Path) -> Shell:
    return shell_with_studies(shared_folder, {**socket_settings(), "SERVER_PORT": "0"})


@pytest.fixture(scope="module")
def federation(shared_folder: Path, shell: Shell) -> Iterator[Federation]:
    """Made and started by the documentation's commands."""
    settings = socket_settings()
    made = Federation(shared_folder, "compose.yaml", settings)
    try:
        shell.run(PROVISION)
        shell.run(KITS)
        shell.run(START, {"/var/run/docker.sock": settings["DOCKER_SOCKET"]})
        yield made
        shell.run(STOP)
    finally:
        made.compose("down", expect=None)


@pytest.fixture(scope="module")
def seen(federation: Federation, shell: Shell) -> dict[tuple[str, str], dict[str, Any]]:
    """Both studies at the same time, by the lead; returns what the engine said of job containers, by site and image."""
    found: dict[str, dict[str, Any]] = {}
    shell.run(MAKE_IMAGES)
    with ThreadPoolExecutor(2) as both:
        running = [both.submit(shell.run, block) for block in (RUN, RUN_IMAGES)]
        while not all(study.done() for study in running):
            for name in docker("ps", "--format", "{{.Names}}", "--filter", "network=nvflare-network").split():
                if name not in found and name.startswith(tuple(f"{each}-" for each in PARENTS)):
                    answer = docker("container", "inspect", name, expect=None)
                    if answer.startswith("["):
                        found[name] = json.loads(answer)[0]
            time.sleep(0.5)
    for study, (folder, _) in zip(running, STUDIES.values(), strict=True):
        assert f"report  /results/{folder}/report.html" in study.result()
    sites = {name: next(each for each in PARENTS if name.startswith(f"{each}-")) for name in found}
    return {(sites[name], container["Config"]["Image"]): container for name, container in found.items()}


def test_every_site_is_registered_before_the_command_returns(federation: Federation) -> None:
    for name in PARENTS:
        assert inspected(federation.container(name))["State"]["Health"]["Status"] == "healthy"


@pytest.mark.parametrize("study", STUDIES)
def test_each_study_is_complete_and_has_a_report(federation: Federation, seen: dict[Any, Any], study: str) -> None:
    folder = federation.folder / "results" / STUDIES[study][0]
    lines = read_lines(folder / "run.jsonl")
    start = next(line for line in lines if isinstance(line, StartLine))
    assert start.study["name"] == study
    assert sorted(site.site for site in start.sites) == list(HOSPITALS)
    assert isinstance(lines[-1], EndLine)
    assert lines[-1].status == "complete"
    page = (folder / "report.html").read_text(encoding="utf-8")
    for name in HOSPITALS:
        assert name in page


def test_each_site_ran_each_job_in_that_studys_image_locked_down(seen: dict[tuple[str, str], Any]) -> None:
    assert sorted(seen) == sorted((name, image(target)) for name in PARENTS for _, target in STUDIES.values())
    for container in seen.values():
        config, host = container["Config"], container["HostConfig"]
        assert config["User"] == f"{OWNER}:{OWNER}"
        assert host["ReadonlyRootfs"] is True
        assert host["CapDrop"] == ["ALL"]
        assert host["SecurityOpt"] == ["no-new-privileges:true"]
        assert host["Privileged"] is False


@pytest.mark.parametrize("study", STUDIES)
def test_a_job_sees_its_own_hospitals_data_of_its_study_read_only_and_no_socket(
    federation: Federation, seen: dict[tuple[str, str], Any], study: str
) -> None:
    used = image(STUDIES[study][1])
    for (name, of_image), container in seen.items():
        mounts = {mount["Source"]: mount["RW"] for mount in container["Mounts"] if mount["Type"] == "bind"}
        assert not any("docker.sock" in source for source in mounts)
        assert not any(other in source for other in PARENTS if other != name for source in mounts)
        if name in HOSPITALS and of_image == used:
            data = [source for source in mounts if source.endswith("/data")]
            assert data == [str(federation.data / study / name / "data")]
            assert mounts[data[0]] is False


def test_a_parent_cannot_reach_patients(federation: Federation) -> None:
    for name in HOSPITALS:
        assert federation.compose("exec", "--no-TTY", name, "ls", "/data", expect=2).count("No such file") == 1


def test_what_a_site_keeps_belongs_to_the_kits_owner_and_stays(federation: Federation, seen: dict[Any, Any]) -> None:
    for name in HOSPITALS:
        kept = [path for path in (federation.data / "state" / name).rglob("*") if path.is_file()]
        assert kept
        assert {path.stat().st_uid for path in kept} == {OWNER}


def test_no_job_container_is_left(federation: Federation, seen: dict[Any, Any]) -> None:
    names = docker("ps", "--all", "--format", "{{.Names}}", "--filter", "network=nvflare-network").split()
    assert sorted(names) == sorted(f"wardround-{name}-1" for name in PARENTS)


def test_a_job_that_names_an_image_is_refused(federation: Federation) -> None:
    folder = federation.folder / "jobs" / "exported"
    export = [sys.executable, "-m", "wardround.cli.main", "export", str(ROOT / "jobs" / "clinical_risk"), str(folder)]
    subprocess.run(export, check=True, capture_output=True, timeout=120)
    meta = folder / "clinical_risk" / "meta.json"
    settings = json.loads(meta.read_text(encoding="utf-8"))
    settings["launcher_spec"] = {"default": {"docker": {"image": "another/image:1"}}}
    meta.write_text(json.dumps(settings), encoding="utf-8")
    give(folder, OWNER)
    status = federation.submit("/jobs/exported/clinical_risk", "clinical_risk")
    assert status["status"] == "FINISHED:FAILED_TO_RUN"
    assert "BYOC not permitted" in json.dumps(status)


def test_a_hospital_whose_server_is_gone_is_unhealthy_until_it_is_back(
    federation: Federation, seen: dict[Any, Any]
) -> None:
    federation.compose("stop", "server")
    assert _health(federation, "hospital-a", "unhealthy") == "unhealthy"
    federation.compose("start", "server")
    assert _health(federation, "hospital-a", "healthy") == "healthy"


def test_preflight_knows_the_images_that_a_kit_names_and_misses_one_that_is_not_there(
    federation: Federation, seen: dict[Any, Any], shell: Shell
) -> None:
    line = shell.run(f"{PREFLIGHT} || true")  # fails as a whole: the host does not know the name `server`
    assert line.startswith("ok ")
    assert all(image(target) in line for target in ("parent", "tabular", "imaging"))
    file = federation.kits / "hospital-a" / "local" / "study_runtime.yaml"
    before = file.read_text(encoding="utf-8")
    try:
        file.write_text(before.replace(image("imaging"), "wardround/imaging:9.9.9"), encoding="utf-8")
        output = shell.run(f"{PREFLIGHT} || true")
    finally:
        file.write_text(before, encoding="utf-8")
    assert re.search(r"failed +images .*wardround/imaging:9\.9\.9: not on this machine", output)
    assert image("tabular") not in output


def _health(federation: Federation, name: str, wanted: str) -> str:
    deadline = time.monotonic() + 180
    while True:
        found = str(inspected(federation.container(name))["State"]["Health"]["Status"])
        if found == wanted or time.monotonic() > deadline:
            return found
        time.sleep(1)
