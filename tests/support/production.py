"""A consortium on this machine: kits that FLARE provisions and `wardround site install` makes ready, run as processes.

Every step is a command that a person would give, with a home folder of its own for each person and each site.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from nvflare.fuel.flare_api.api_spec import AuthenticationError, InternalError, NoConnection
from nvflare.fuel.flare_api.flare_api import Session, new_secure_session
from typer.testing import CliRunner

from support.cut_link import CutLink
from support.provisioned import CONFIGS, ROOT, provision
from wardround.cli.main import app
from wardround.flare.job_waiting import reason_may_follow
from wardround.flare.marked_processes import MarkedProcesses
from wardround.flare.parent import SERVER_MODULE, command_of
from wardround.flare.server_port import free_port
from wardround.flare.workspace import site_environment

SITES = ("hospital-a", "hospital-b", "hospital-c")
PROJECT_ADMIN, LEAD, MEMBER = "admin@consortium.example", "lead@consortium.example", "member@consortium.example"
HOSPITAL_A_ADMIN = "admin@hospital-a.example"
START_SECONDS, JOB_SECONDS = 120, 300


class Consortium:
    """One server, three hospitals and their people, in a folder.

    Args:
        folder: the kits' home; FLARE splits command lines at spaces, so its path has none.
        provisioned_in: where provisioning works, which may have spaces; kits are sent from there.
    """

    def __init__(self, folder: Path, provisioned_in: Path) -> None:
        self.folder, self.provisioned_in = folder, provisioned_in
        self.port = free_port()
        self.link: CutLink | None = None
        self._running: dict[str, MarkedProcesses] = {}

    def kit(self, name: str) -> Path:
        """Of the server, a site, or a person."""
        return self.folder / "kits" / name

    def provision(self, *, behind_a_link: str = "") -> None:
        """site_configs/project.yml on a free port, then each kit to its owner.

        `behind_a_link`: a hospital that reaches the server through `link`, and so by another port than the others.
        """
        shutil.copytree(self._provisioned(self.port), self.folder / "kits")
        if behind_a_link:
            port = free_port()
            self.link = CutLink(port, to=self.port)
            kit = self.kit(behind_a_link)
            shutil.rmtree(kit)
            shutil.copytree(self._provisioned(port) / behind_a_link, kit)

    def _provisioned(self, port: int) -> Path:
        """A folder a participant; a second time under the same root."""
        project = yaml.safe_load((CONFIGS / "project.yml").read_text(encoding="utf-8"))
        project["participants"][0]["fed_learn_port"] = port
        self.provisioned_in.mkdir(parents=True, exist_ok=True)
        file = self.provisioned_in / "project.yml"
        file.write_text(yaml.safe_dump(project, sort_keys=False), encoding="utf-8")
        return provision(self.provisioned_in, file)

    def generate_data(self, size: int = 24, rows: int = 400) -> None:
        """Where the hospitals' site.yaml look for it: images as cubes of `size` voxels a side, and tables."""
        images = ["--hospitals", "3", "--size", str(size), "--train", "6", "--validation", "4", "--test", "4"]
        self.wardround("synth", "brain-tumor", str(self.folder / "demo" / "brain_tumor"), *images, "--seed", "1")
        tables = ["--hospitals", "3", "--rows", str(rows), "--seed", "2"]
        self.wardround("synth", "clinical-risk", str(self.folder / "demo" / "clinical_risk"), *tables)

    def install(self, *names: str) -> None:
        """Each hospital's folder, as the repository has it, into its kit; and the server's."""
        for name in names or ("server", *SITES):
            shutil.copytree(CONFIGS / name, self.settings(name))
            self.wardround("site", "install", str(self.kit(name)), "--site", str(self.settings(name)))

    def settings(self, name: str) -> Path:
        """What the admin of a site, or the server's, owns."""
        return self.folder / "site_configs" / name

    def start(self, name: str, *, module: str | None = None, watched: bool = False) -> None:
        """The server or a site by its kit's own script, or by another module in place of FLARE's.

        `watched`: as start.sh does, so that the script starts the process again if it dies.
        """
        command = ["bash", str(self.kit(name) / "startup" / "sub_start.sh"), *([] if watched else ["--once"])]
        if module:
            command = [module if part == SERVER_MODULE else part for part in command_of(self.kit(name))]
        processes = MarkedProcesses(self.environment(name))
        processes.start(command, self.log(name), folder=self.kit(name))
        self._running[name] = processes

    def wait_until_connected(self, *names: str) -> None:
        """Until the server knows these sites and no other."""
        self.wait_for(lambda: self.connected() == set(names), START_SECONDS, f"only {names} connected")

    def wait_for(self, true: Any, seconds: float, what: str) -> None:
        """Polls; a wait that is over fails with the server's last lines."""
        deadline = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < deadline, f"{what}: not within {seconds} s\n{self.said('server')[-3000:]}"
            time.sleep(0.5)

    def log(self, name: str) -> Path:
        """What the process printed; FLARE prints what it logs."""
        return self.folder / f"{name}.log"

    def said(self, name: str) -> str:
        """The text of `log`."""
        file = self.log(name)
        return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""

    def runs(self, name: str) -> bool:
        """Whether a process of the server or site is alive, a job's included."""
        return name in self._running and bool(self._running[name].alive())

    def stop(self, *names: str) -> None:
        """Ends what was started here under these names, or all of it."""
        for name in names or tuple(self._running):
            if name in self._running:
                self._running.pop(name).end_all()
        if self.link is not None and not names:
            self.link.cut()

    def environment(self, name: str) -> dict[str, str]:
        """A home of its own, and the python that runs these tests."""
        home = self.folder / "homes" / name
        home.mkdir(parents=True, exist_ok=True)
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        ours = os.pathsep.join([str(ROOT / "custom"), str(ROOT / "tests")])
        return {**site_environment(3), "PYTHONPATH": ours, "HOME": str(home), "PATH": path}

    def command(self, user: str, module: Sequence[str], *, code: int = 0, text: str = "") -> str:
        """A python module's command line as `user`; what it printed, both streams, if it left with `code`."""
        done = subprocess.run(
            [sys.executable, "-m", *module],
            env={**os.environ, **self.environment(user)},
            cwd=self.folder,
            input=text,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=JOB_SECONDS,
        )
        assert done.returncode == code, f"{' '.join(module)}: {done.returncode}\n{done.stdout[-4000:]}"
        return done.stdout

    def wardround(self, *arguments: str, code: int = 0) -> str:
        """Our own command line, in this process, where all it needs is loaded by now."""
        done = CliRunner().invoke(app, list(arguments))
        assert done.exit_code == code, f"{' '.join(arguments)}: {done.exit_code}\n{done.output[-4000:]}"
        return done.output

    def nvflare(self, user: str, *arguments: str, code: int = 0) -> dict[str, Any]:
        """FLARE's command line with a person's kit; its one JSON answer."""
        options = ["--startup-kit", str(self.kit(user)), "--format", "json"]
        answer = self.command(user, ["nvflare.cli", *arguments, *options], code=code)
        return next(json.loads(line) for line in reversed(answer.splitlines()) if line.startswith("{"))

    def console(self, user: str, *commands: str, study: str | None = None) -> str:
        """FLARE's console, fed by script: the user's name and then one command a line."""
        script = [str(self.kit(user) / "startup" / "fl_admin.sh"), *(["--study", study] if study else [])]
        done = subprocess.run(
            ["bash", *script],
            env={**os.environ, **self.environment(user)},
            input="\n".join([user, *commands, "bye", ""]),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=START_SECONDS,
        )
        return done.stdout

    @contextlib.contextmanager
    def session(self, user: str, study: str = "default") -> Iterator[Session]:
        """A person's session through FLARE's API."""
        with contextlib.redirect_stdout(None):
            session = new_secure_session(user, str(self.kit(user)), study=study, timeout=30.0)
        try:
            yield session
        finally:
            with contextlib.suppress(Exception):
                session.close()

    def ask(self, user: str, *commands: str, study: str = "default") -> str:
        """The console's commands without its process, and so without its questions whether one is sure."""
        with self.session(user, study) as session:
            return "\n".join(json.dumps(session.api.do_command(command), default=str) for command in commands)

    def connected(self) -> set[str]:
        """Sites that the server knows now; none while it does not answer."""
        try:
            with self.session(PROJECT_ADMIN) as session:
                return {client.name for client in session.get_system_info().client_info}
        except (NoConnection, InternalError, AuthenticationError):
            return set()

    def ended(self, job: str, study: str) -> dict[str, Any]:
        """What the server says of a job, once it has ended."""
        with self.session(LEAD, study) as session:
            self.wait_for(lambda: session.get_job_status(job).startswith("FINISHED"), JOB_SECONDS, job)
            self.wait_for(lambda: not reason_may_follow(session.get_job_meta(job)), 30, job)
            return dict(session.get_job_meta(job))

    def submitted_and_ended(self, job: Path, study: str = "clinical_risk") -> dict[str, Any]:
        """Submits as the lead and waits."""
        with self.session(LEAD, study) as session:
            job_id = session.submit_job(str(job))
        return self.ended(job_id, study)

    def export(self, study: str, *settings: str, to: str = "jobs") -> Path:
        """`wardround export` of one of the shipped studies."""
        overrides = [part for setting in settings for part in ("--set", setting)]
        self.wardround("export", str(ROOT / "jobs" / study), str(self.folder / to), *overrides)
        return self.folder / to / study
