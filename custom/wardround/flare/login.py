"""An admin's session with a running FLARE server: every wait has an end, and a refusal says what to do."""

import contextlib
import io
import json
import threading
from collections.abc import Iterator
from pathlib import Path

from nvflare.apis.job_def import DEFAULT_STUDY
from nvflare.fuel.f3.drivers.aio_context import AioContext
from nvflare.fuel.flare_api.flare_api import Session, new_secure_session

from wardround.flare.failure import mask_paths
from wardround.records.reasons import Reason, WardroundError

_NO_STUDIES = "is not configured on the server"  # FLARE's words where no study was provisioned; an unknown one differs
_FREED_SECONDS = 60.0  # beyond the time to connect: a slow login or logout is over by then
_ADVICE = {
    "unknown study": "a hospital's org_admin makes it with `nvflare study register {study} --sites SITE`",
    "is not mapped to study": "a hospital's org_admin lets this user in with `nvflare study add-user {study} {user}`",
    "cannot connect to server": "it does not run, does not answer, or a firewall is between: ask its operator",
    "not authorized": "a certificate's role decides who may do what, and a lead's may submit: use such a kit",
}


def open_session(kit: Path, timeout: float = 30.0, *, study: str | None = None) -> Session:
    """Logs in with an admin's startup kit.

    Args:
        kit: the folder that holds `startup/`.
        timeout: seconds.
        study: the study to log in to. A server that was provisioned without studies has FLARE's default one alone.

    Raises:
        WardroundError: not a startup kit, the server does not answer, or this user is not in that study.
    """
    try:
        settings = json.loads((kit / "startup" / "fed_admin.json").read_text(encoding="utf-8"))
        user = settings["admin"]["username"]
    except (OSError, ValueError, KeyError):
        raise WardroundError(
            Reason.ENVIRONMENT_INVALID, f"{kit}: not an admin's startup kit; expected startup/fed_admin.json in it"
        ) from None
    try:
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),  # FLARE prints "Connecting to FLARE ..."
            _freed_after(timeout + _FREED_SECONDS),
        ):
            return new_secure_session(user, str(kit), timeout=timeout, study=study or DEFAULT_STUDY)
    except Exception as error:
        if study is not None and _NO_STUDIES in str(error):
            return open_session(kit, timeout)
        raise WardroundError(
            Reason.ENVIRONMENT_INVALID,
            f"{kit.name}: no session with the FLARE server: {mask_paths(str(error))}"
            + advice_on(str(error), study=study or "STUDY", user=user),
        ) from error


def close_session(session: Session) -> None:
    """Logs out, whatever became of the server."""
    with contextlib.suppress(Exception), _freed_after(_FREED_SECONDS):
        session.close()


def advice_on(refusal: str, *, study: str = "STUDY", user: str = "USER") -> str:
    """What to do about a refusal in FLARE's words, to be put after it; empty where the words are others."""
    for words, advice in _ADVICE.items():
        if words in refusal:
            return f"; {advice.format(study=study, user=user)}"
    return ""


@contextlib.contextmanager
def _freed_after(seconds: float) -> Iterator[None]:
    """Cancels FLARE's connections where it has not come back by then.

    FLARE gives up on a server that does not answer, closes the connections that it has, and waits for the thread that
    makes one: where the server answers only then, that connection is closed by nobody, and the wait has no end.
    """
    timer = threading.Timer(seconds, AioContext.close_global_context)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
