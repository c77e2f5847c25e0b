"""An engine that runs as an ordinary user: its socket is worth that user's rights, and no more."""

import os
import pwd
import subprocess
from pathlib import Path

import pytest

from support.containers import Federation, docker, give, image, run_study, shell_with_studies
from support.documentation import blocks_under
from wardround.records.run_lines import EndLine, read_lines

pytestmark = pytest.mark.images

PROVISION, KITS = blocks_under("docs/containers.md", "A federation on one machine")[:2]
(START,) = blocks_under("docs/containers.md", "A rootless engine")
VARIABLE = "ROOTLESS_DOCKER_HOST"
needs_rootless = pytest.mark.skipif(VARIABLE not in os.environ, reason=f"no rootless engine: {VARIABLE} is not set")
_AS_ROOT = ["run", "--rm", "--user", "0:0", "--volume", "/etc/shadow:/shadow:ro"]


def test_the_socket_of_a_root_engine_is_root_on_the_host() -> None:
    assert "root:" in docker(*_AS_ROOT, image("parent"), "cat", "/shadow")


@needs_rootless
def test_the_socket_of_a_rootless_engine_is_not() -> None:
    refused = docker(*_AS_ROOT, image("parent"), "cat", "/shadow", expect=1, environment=_environment())
    assert "Permission denied" in refused


@needs_rootless
def test_a_study_runs_to_its_end_and_all_files_are_the_users(shared_folder: Path) -> None:
    user = _socket().stat().st_uid
    shell = shell_with_studies(shared_folder, {"XDG_RUNTIME_DIR": str(_socket().parent), "SERVER_PORT": "0"})
    settings = {**_environment(), "DOCKER_SOCKET": str(_socket()), "DOCKER_GROUP": "0", "KITS_OWNER": "0:0"}
    federation = Federation(shared_folder, "compose.yaml", settings)
    try:
        shell.run(PROVISION)
        shell.run(KITS)
        give(shared_folder, user)  # as if that user had run these commands
        shell.run(START)
        run_study(federation)
    finally:
        federation.compose("down", expect=None)
    end = read_lines(federation.folder / "results" / "first" / "run.jsonl")[-1]
    assert isinstance(end, EndLine)
    assert end.status == "complete"
    owners = {
        path.stat().st_uid for part in ("kits", "results", "demo/state") for path in (shared_folder / part).rglob("*")
    }
    assert {pwd.getpwuid(owner).pw_name for owner in owners} == {pwd.getpwuid(user).pw_name}


@pytest.fixture(scope="module", autouse=True)
def _images_there() -> None:
    """The other engine's images, in the rootless one."""
    if VARIABLE in os.environ:
        images = [image("parent"), image("tabular")]
        with subprocess.Popen(["docker", "save", *images], stdout=subprocess.PIPE) as saved:
            subprocess.run(["docker", "load"], stdin=saved.stdout, env={**os.environ, **_environment()}, check=True)


def _socket() -> Path:
    return Path(os.environ[VARIABLE].removeprefix("unix://"))


def _environment() -> dict[str, str]:
    return {"DOCKER_HOST": os.environ[VARIABLE]}
