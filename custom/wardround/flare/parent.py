"""Starts the standing process of a startup kit, a server's or a hospital's, and ends as it ends.

FLARE's own start script needs a shell in the image, an image's command would need each site's name. This takes the
name and the organisation from the kit's certificate, so that one image serves every kit that is mounted into it.

    python -m wardround.flare.parent WORKSPACE
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from wardround.flare.certificates import read_certificate
from wardround.records.reasons import Reason, WardroundError

SERVER_MODULE = "nvflare.private.fed.app.server.server_train"
CLIENT_MODULE = "nvflare.private.fed.app.client.client_train"
_RESTART, _SHUTDOWN = "restart.fl", "shutdown.fl"  # FLARE writes them when an admin asks for either
_GRACE_SECONDS = 30  # for the process to end by itself after such a request


def run(workspace: Path) -> int:
    """Starts the process, again whenever an admin asks for a restart, and returns its exit code; 0 after a shutdown.

    Raises:
        WardroundError: the folder is no startup kit, or this user may not write to it.
    """
    command = command_of(workspace)
    while True:
        for name in (_RESTART, _SHUTDOWN):
            (workspace / name).unlink(missing_ok=True)
        code = _run_once(command, workspace)
        if not (workspace / _RESTART).exists():
            return 0 if (workspace / _SHUTDOWN).exists() else code


def command_of(workspace: Path) -> list[str]:
    """The command line of a kit's standing process.

    Raises:
        WardroundError: see `run`.
    """
    kinds = {"client": CLIENT_MODULE, "server": SERVER_MODULE}
    kind = next((each for each in kinds if (workspace / "startup" / f"fed_{each}.json").is_file()), None)
    if kind is None:
        raise WardroundError(
            Reason.ENVIRONMENT_INVALID,
            f"{workspace}: not a startup kit of a server or hospital; "
            "expected startup/fed_server.json or startup/fed_client.json; mount the kit's folder there",
        )
    if not os.access(workspace, os.W_OK | os.X_OK):
        raise WardroundError(
            Reason.ENVIRONMENT_INVALID,
            f"{workspace}: user {os.getuid()}:{os.getgid()} may not write to the kit's folder; "
            "run as the user that owns it, or change its owner",
        )
    name, organisation = _identity(workspace / "startup" / f"{kind}.crt")
    settings = ["secure_train=true", *([f"uid={name}"] if kind == "client" else []), f"org={organisation}"]
    options = ["-m", str(workspace), "-s", f"fed_{kind}.json", "--set", *settings, "config_folder=config"]
    return [sys.executable, "-u", "-m", kinds[kind], *options]


def _identity(file: Path) -> tuple[str, str]:
    """Common name and organisation."""
    try:
        found = read_certificate(file)
        if found.name and found.organisation:
            return found.name, found.organisation
        cause = f"{found.name!r} and {found.organisation!r}"
    except (OSError, ValueError) as error:
        cause = type(error).__name__
    raise WardroundError(
        Reason.ENVIRONMENT_INVALID,
        f"{file}: expected a certificate with a common name and an organisation, found {cause}; "
        "ask for the startup kit again",
    )


def _run_once(command: list[str], workspace: Path) -> int:
    process = subprocess.Popen(command)  # noqa: S603 - our own interpreter and FLARE's module
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _frame: process.send_signal(received))
    asked: float | None = None
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(timeout=1)
        if asked is None and any((workspace / name).exists() for name in (_RESTART, _SHUTDOWN)):
            asked = time.monotonic()
        if asked is not None and time.monotonic() - asked > _GRACE_SECONDS:
            process.kill()


def main() -> int:
    """The command line: one argument, the workspace."""
    try:
        return run(Path(sys.argv[1]))
    except WardroundError as error:
        sys.stderr.write(f"{error}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main())
