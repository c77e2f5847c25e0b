"""A server and three hospitals in containers, from the shipped project, site folders and compose files."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from support.provisioned import ROOT
from support.shell import Shell
from wardround import __version__

HOSPITALS = ("hospital-a", "hospital-b", "hospital-c")
PARENTS = ("server", *HOSPITALS)
OWNER = 10001
WORKSPACE = "/var/tmp/nvflare/workspace"
_SUBMIT = """
import json, pathlib, shutil, sys, time
from wardround.flare.login import open_session
session = open_session(pathlib.Path("/kit"), study=sys.argv[2])
try:
    job = session.submit_job(shutil.copytree(sys.argv[1], "/tmp/job"))  # FLARE signs within the folder
    while not session.get_job_status(job).startswith("FINISHED"):
        time.sleep(1)
    print(json.dumps(session.get_job_meta(job)))
finally:
    session.close()  # its threads would keep a failed process
"""


def tool(name: str) -> str:
    """A linter's command: `make images-test` installs it beside this Python."""
    found = shutil.which(name, path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    assert found, f"{name} is not installed"
    return found


def image(target: str) -> str:
    return f"wardround/{target}:{__version__}"


def docker(*arguments: str, expect: int | None = 0, environment: Mapping[str, str] | None = None) -> str:
    """Runs a `docker` command and returns both its streams; `expect` None takes any exit code."""
    done = subprocess.run(
        ["docker", *arguments], capture_output=True, text=True, timeout=600, env={**os.environ, **(environment or {})}
    )
    output = done.stdout + done.stderr
    assert expect is None or done.returncode == expect, output
    return output


def inspected(name: str, kind: str = "container") -> dict[str, Any]:
    """What `docker inspect` says of a container or an image."""
    found: list[dict[str, Any]] = json.loads(docker(kind, "inspect", name))
    return found[0]


_LESS_WORK: dict[str, dict[str, dict[str, Any]]] = {
    "clinical_risk": {"training": {"rounds": 2}, "evaluation": {"personalise_steps": 2}},
    "brain_tumor": {
        "workload": {
            "network": {"channels": [4, 8], "strides": [2], "residual_units": 0, "norm": "batch"},
            "patch": {"size": [16, 16, 16], "tumor_share": 0.5},
        },
        "training": {"rounds": 2, "local_steps": 2},
        "evaluation": {"personalise_steps": 2},
    },
}
STUDY = ["wardround", "run", "/jobs/clinical_risk", "--env", "prod", "--kit", "/kit", "--out", "/results/first"]


class Federation:
    """Kits, data and results in one folder, and the containers of a compose file over them.

    Args:
        folder: must be reachable for the engine.
        compose: the file's name in docker/.
        settings: variables of the compose file that differ from this folder's own.
    """

    def __init__(self, folder: Path, compose: str, settings: Mapping[str, str]) -> None:
        self.folder, self.kits, self.data = folder, folder / "kits", folder / "demo"
        self._file = ROOT / "docker" / compose
        self.environment = {
            **os.environ,
            "KITS": str(self.kits),
            "KITS_OWNER": f"{OWNER}:{OWNER}",
            "DATA": str(self.data),
            "LEAD_KIT": str(folder / "provision" / "wardround" / "prod_00" / "lead@consortium.example"),
            "JOBS": str(folder / "jobs"),
            "RESULTS": str(folder / "results"),
            "SERVER_PORT": "0",
            **settings,
        }

    def command(self, *arguments: str) -> list[str]:
        """A `docker compose` command, to be run in `environment`."""
        return ["docker", "compose", "--file", str(self._file), *arguments]

    def compose(self, *arguments: str, expect: int | None = 0) -> str:
        return docker(*self.command(*arguments)[1:], expect=expect, environment=self.environment)

    def lead(self, *command: str, expect: int | None = 0) -> str:
        """Runs a command as the study's lead, in a container of the same network."""
        return self.compose("run", "--rm", "--no-TTY", "lead", *command, expect=expect)

    def submit(self, job: str, study: str) -> dict[str, Any]:
        """Submits a job folder of the lead's container to a study, waits for its end, and returns FLARE's account."""
        output = self.lead("python", "-c", _SUBMIT, job, study)
        account: dict[str, Any] = json.loads(output.splitlines()[-1])
        return account

    def container(self, service: str) -> str:
        """The id of a service's container."""
        return self.compose("ps", "--all", "--quiet", service).strip()

    def logs(self) -> str:
        """All parents' logs, for a failure's message."""
        texts = []
        for name in PARENTS:
            file = self.kits / name / "log.txt"
            texts.append(f"=== {name} ===\n" + (file.read_text(encoding="utf-8")[-6000:] if file.is_file() else "none"))
        return "\n".join(texts)


def shell_with_studies(folder: Path, environment: Mapping[str, str]) -> Shell:
    """For the documentation's commands in a folder, which gets the shipped studies with less work in `jobs`."""
    shell = Shell(folder, ("docker", "site_configs", "pyproject.toml"), environment)
    for study, less in _LESS_WORK.items():
        target = folder / "jobs" / study
        shutil.copytree(ROOT / "jobs" / study, target)
        settings = yaml.safe_load((target / "job.yaml").read_text(encoding="utf-8"))
        for section, values in less.items():
            settings[section] |= values
        (target / "job.yaml").write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    return shell


def run_study(federation: Federation) -> None:
    """The lead's command, to its end."""
    done = subprocess.run(
        federation.command("run", "--rm", "--no-TTY", "lead", *STUDY),
        env=federation.environment,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout + done.stderr + federation.logs()


def give(folder: Path, owner: int) -> None:
    """Changes the owner of all that is in a folder: containers run as another user than this one."""
    for path in (folder, *folder.rglob("*")):
        os.chown(path, owner, owner, follow_symlinks=False)
