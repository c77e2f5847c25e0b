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

from support.provisioned import CONFIGS, ROOT, nvflare, provision
from wardround import __version__
from wardround.flare.installation import install_folder

HOSPITALS = ("hospital-a", "hospital-b", "hospital-c")
PARENTS = ("server", *HOSPITALS)
LEAD = "lead@consortium.example"
OWNER = 10001
WORKSPACE = "/var/tmp/nvflare/workspace"
_SUBMIT = """
import json, pathlib, sys, time
from wardround.flare.session import open_session
session = open_session(pathlib.Path("/kit"), study=sys.argv[2])
job = session.submit_job(sys.argv[1])
while not session.get_job_status(job).startswith("FINISHED"):
    time.sleep(1)
print(json.dumps(session.get_job_meta(job)))
session.close()
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


class Federation:
    """Kits, data and results in one folder, and the containers of a compose file over them.

    Args:
        folder: empty; must be reachable for the engine.
        compose: the file's name in docker/.
        in_docker: kits go through `nvflare deploy prepare`, so that each job gets a container of its own.
        rows: stays a hospital.
        settings: further variables of the compose file.
    """

    def __init__(self, folder: Path, compose: str, *, in_docker: bool, rows: int, settings: Mapping[str, str]) -> None:
        self.folder, self.kits, self.data = folder, folder / "kits", folder / "demo"
        self._file = ROOT / "docker" / compose
        self.environment = {
            **os.environ,
            "KITS": str(self.kits),
            "KITS_OWNER": f"{OWNER}:{OWNER}",
            "DATA": str(self.data),
            "LEAD_KIT": str(folder / "lead"),
            "JOBS": str(folder / "jobs"),
            "RESULTS": str(folder / "results"),
            "SERVER_PORT": "0",
            **settings,
        }
        self._make_data(rows)
        self._make_kits(in_docker)
        for part in ("jobs", "results"):
            (folder / part).mkdir()
        give_to_owner(self.kits, self.data, folder / "lead", folder / "results", folder / "jobs")

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

    def _make_data(self, rows: int) -> None:
        command = [
            sys.executable,
            "-m",
            "wardround.cli.main",
            "synth",
            "clinical-risk",
            str(self.data / "clinical_risk"),
        ]
        subprocess.run([*command, "--rows", str(rows), "--seed", "0"], check=True, capture_output=True, timeout=300)
        for name in HOSPITALS:
            for part in (f"state/{name}", f"cache/{name}", f"brain_tumor/{name}/data"):
                (self.data / part).mkdir(parents=True, exist_ok=True)

    def _make_kits(self, in_docker: bool) -> None:
        project = yaml.safe_load((CONFIGS / "project.yml").read_text(encoding="utf-8"))
        server = next(each for each in project["participants"] if each["type"] == "server")
        server["default_host"] = "server"  # as containers reach it
        (self.folder / "project.yml").write_text(yaml.safe_dump(project, sort_keys=False), encoding="utf-8")
        provisioned = provision(self.folder / "provision", self.folder / "project.yml")
        for name in PARENTS:
            own = self._site_folder(name)
            if in_docker:
                prepare = ["deploy", "prepare", str(provisioned / name), "--config", str(own / "docker.yaml")]
                nvflare(self.folder / "home", *prepare, "--output", str(self.kits / name))
            else:
                self.kits.mkdir(exist_ok=True)
                (provisioned / name).rename(self.kits / name)
            install_folder(self.kits / name, own, workspace=Path(WORKSPACE))
        (provisioned / LEAD).rename(self.folder / "lead")

    def _site_folder(self, name: str) -> Path:
        """The shipped folder, in a place from which its relative paths lead to the data made here."""
        target = self.folder / "site_configs" / name
        target.mkdir(parents=True)
        for file in (CONFIGS / name).iterdir():
            (target / file.name).write_bytes(file.read_bytes())
        return target


def give_to_owner(*folders: Path) -> None:
    """As an admin does with chown: containers run as another user than this one."""
    for folder in folders:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, OWNER, OWNER, follow_symlinks=False)
