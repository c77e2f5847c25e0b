"""A FLARE proof-of-concept system on this machine: real server and client processes, certificates and all.

FLARE's own `PocEnv` provisions and starts in one step, which leaves no moment to write a site's `local/` folder.
"""

import contextlib
import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from wardround.flare.continuation import Continuation
from wardround.flare.failure import cause_of
from wardround.flare.kit_log import REGISTERED
from wardround.flare.marked_processes import MarkedProcesses
from wardround.flare.poc_kits import ADMIN, PROJECT, SERVER, install, write_project
from wardround.flare.session import run_through_session
from wardround.flare.workspace import site_environment, workspace
from wardround.records.launch import note_launch
from wardround.records.reasons import Reason, WardroundError
from wardround.records.run_lines import RunLine
from wardround.records.study import Study
from wardround.records.task_answers import TaskAnswers
from wardround.site.config import SiteConfig

_STATE = "poc.json"
_START_SECONDS = 300


class PocSystem:
    """One POC system in a folder. Every step may be repeated.

    Args:
        folder: made where missing; its path must have no space, since FLARE splits command lines at them.
        log: where FLARE's output goes.
    """

    def __init__(self, folder: Path, log: Path) -> None:
        if " " in str(folder):
            raise WardroundError(
                Reason.ENVIRONMENT_INVALID,
                f"{folder}: FLARE cannot run POC in a path with a space; name another folder",
            )
        self.folder, self._log = folder, log
        state = self._state()
        self._children = MarkedProcesses(self._environment(len(state.get("sites", [])) or 1), mark=state.get("mark"))

    @property
    def kit(self) -> Path:
        """The admin's startup kit, for sessions and for `nvflare job submit`."""
        return self._kits / ADMIN

    @property
    def mark(self) -> str:
        """Of its processes; see `MarkedProcesses`."""
        return self._children.mark

    def run_folder(self, job: str) -> Path:
        """The server's folder of a job while it runs."""
        return self._kits / SERVER / job

    @property
    def environment(self) -> dict[str, str]:
        """What `nvflare` commands of one's own need to address this system."""
        return {**self._children.environment, "NVFLARE_STARTUP_KIT_DIR": str(self.kit)}

    def prepare(self, configs: list[SiteConfig]) -> None:
        """Provisions anew and writes every site's `local/`. A system that runs in this folder is stopped first.

        Raises:
            WardroundError: the folder holds something else than a POC system, which is not deleted.
        """
        if self.folder.exists() and not (self.folder / _STATE).is_file() and any(self.folder.iterdir()):
            raise WardroundError(
                Reason.ENVIRONMENT_INVALID,
                f"{self.folder}: holds no {_STATE}, so it is no POC system of ours; name a new folder",
            )
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "home").mkdir(parents=True)
        self._children = MarkedProcesses(self._environment(len(configs)), mark=self._children.mark)
        state = {"mark": self._children.mark, "sites": [config.name for config in configs]}
        (self.folder / _STATE).write_text(json.dumps(state), encoding="utf-8")
        project = self.folder / "project.yml"
        write_project(project, configs)
        self._nvflare("poc", "prepare", "-i", str(project), "--force")
        install(self._kits / SERVER)
        for config in configs:
            install(self._kits / config.name, config)

    def start(self) -> None:
        """Starts server and sites and waits until they are connected.

        The wait is ours: FLARE's own opens an admin session while the server still comes up, and on a busy machine
        that session hangs until the time is over, though every site has long been there.

        Raises:
            WardroundError: sites are missing after five minutes; they are named.
        """
        self._nvflare("poc", "start", "--no-wait", timeout=_START_SECONDS)
        deadline = time.monotonic() + _START_SECONDS
        while missing := [site for site in self._state()["sites"] if not self._is_registered(site)]:
            if time.monotonic() > deadline:
                raise WardroundError(
                    Reason.ENVIRONMENT_INVALID,
                    f"POC: not connected after {_START_SECONDS} s: {', '.join(missing)}; see flare.log",
                )
            time.sleep(0.5)

    def stop(self) -> None:
        """Stops what runs, in order where possible, and leaves no process."""
        try:
            if self._children.alive():
                with contextlib.suppress(WardroundError):  # whatever is left is ended below
                    self._nvflare("poc", "stop", timeout=30)
        finally:
            self._children.end_all()

    def _is_registered(self, site: str) -> bool:
        log = self._kits / site / "log.txt"
        return log.is_file() and REGISTERED in log.read_text(encoding="utf-8", errors="replace")

    @property
    def _kits(self) -> Path:
        return self.folder / "poc" / PROJECT / "prod_00"

    def _state(self) -> dict[str, Any]:
        file = self.folder / _STATE
        return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}

    def _environment(self, sites: int) -> dict[str, str]:
        return {
            **site_environment(sites),
            "HOME": str(self.folder / "home"),  # FLARE writes ~/.nvflare
            "NVFLARE_POC_WORKSPACE": str(self.folder / "poc"),
            # start.sh calls python3: it has to be the one that has this package
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
        }

    def _nvflare(self, *arguments: str, timeout: float = 60) -> None:
        command = [sys.executable, "-m", "nvflare.cli", *arguments]
        process = self._children.start(command, self._log, folder=self.folder)
        try:
            code = process.wait(timeout)
        except BaseException as error:
            process.kill()
            process.wait()
            if isinstance(error, KeyboardInterrupt):
                raise
            code = -1
        if code != 0:
            raise WardroundError(
                Reason.ENVIRONMENT_INVALID,
                f"nvflare {' '.join(arguments[:2])} failed: {cause_of(self._log) or 'see flare.log'}",
            )


def run_in_poc(
    study: Study,
    configs: list[SiteConfig],
    *,
    run_name: str,
    out: Path,
    on_line: Callable[[RunLine], None],
    on_answers: Callable[[TaskAnswers], None] | None = None,
    continuation: Continuation | None = None,
) -> None:
    """Prepares, starts, runs and stops. No process is left.

    Raises:
        WardroundError: a step failed.
    """
    with workspace() as folder:
        system = PocSystem(folder / "system", out / "flare.log")
        try:
            system.prepare(configs)
            note_launch(out, mark=system.mark, workspace=folder)
            system.start()
            names = [config.name for config in configs]
            run_through_session(
                study,
                system.kit,
                sites=names,
                run_name=run_name,
                environment="poc",
                out=out,
                on_line=on_line,
                on_answers=on_answers,
                continuation=continuation,
                run_folder=system.run_folder,
            )
        finally:
            system.stop()
            for log in sorted(system.folder.glob(f"poc/{PROJECT}/prod_00/*/log.txt")):
                with (out / "flare.log").open("a", encoding="utf-8") as stream:
                    stream.write(f"\n=== {log.parent.name} ===\n{log.read_text(encoding='utf-8', errors='replace')}")
