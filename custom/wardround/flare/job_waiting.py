"""Why a submitted job does not start, or ended early, from what FLARE's server says of it."""

import re
from collections.abc import Callable
from typing import Any

from wardround.flare.failure import mask_paths
from wardround.flare.offered_gpus import refused_for_good
from wardround.records.reasons import Reason, WardroundError

_SCHEDULED = "scheduled"
_TIME = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d: ")
_FEW_SITES = re.compile(r"not enough sites have enough resources \(ok sites (\d+) < min sites (\d+)\)")
_DETAILS = ". Details: "
_FINE = "OK"
_ENDINGS = {  # FLARE says no more of them
    "FINISHED:EXECUTION_EXCEPTION": "a process of the job failed or was ended, at a site or at the server",
    "FINISHED:ABNORMAL": "its processes could not begin at enough sites, as with a class that is not installed or "
    "not listed there, or were ended",
}
_QUIET_LOOKS = 20  # FLARE looks at a new job within seconds, unless as many run as may


class Waiting:
    """Follows a job that has not started.

    Args:
        on_wait: gets each new reason in one line, once.

    Attributes:
        over: the server has taken the job up; whoever looks sets it.
    """

    def __init__(self, on_wait: Callable[[str], None] | None) -> None:
        self._on_wait = on_wait or (lambda _text: None)
        self._told = ""
        self._looks = 0
        self.over = False

    def look(self, meta: dict[str, Any]) -> None:
        """Takes what the server says of a job whose status is SUBMITTED.

        Raises:
            WardroundError: it can never start as it is: too few sites offer what it wants.
        """
        self._looks += 1
        reason = why_not_scheduled(meta)
        if reason is None:
            if self._looks == _QUIET_LOOKS:
                self._on_wait("waiting: the server has not looked at the job yet; it may run as many as it takes")
            return
        few = _FEW_SITES.match(reason)
        details = reason.partition(_DETAILS)[2]
        never = refused_for_good(details)
        if few and never and int(few[1]) + len(details.split("; ")) - len(never) < int(few[2]):
            raise WardroundError(
                Reason.ENVIRONMENT_INVALID,
                f"{'; '.join(never)}; and {few[2]} sites are needed: ask for less, such as --set federation.gpus=0, or "
                "have the sites offer more: num_of_gpus in their resources.json",
            )
        if reason != self._told:
            self._told = reason
            self._on_wait(f"waiting: {reason}; the server tries again, Ctrl-C takes the job back")


def why_not_scheduled(meta: dict[str, Any]) -> str | None:
    """FLARE's newest reason for not starting a job yet, or None."""
    history = meta.get("schedule_history") or []
    newest = mask_paths(_TIME.sub("", str(history[-1]))) if history else _SCHEDULED
    return None if newest == _SCHEDULED else newest


def reason_may_follow(meta: dict[str, Any]) -> bool:
    """Whether FLARE may not have written yet why a job could not run: it writes the status first."""
    return meta.get("status") == "FINISHED:FAILED_TO_RUN" and not meta.get("job_deploy_detail")


def why_ended(meta: dict[str, Any]) -> str:
    """What FLARE's answer tells of why a job ended, to be put after its status; empty where it tells nothing."""
    if explanation := _ENDINGS.get(str(meta.get("status"))):
        return f": {explanation}; log.txt in the kits of the sites and the server tells"
    sites = [mask_paths(str(text)) for text in meta.get("job_deploy_detail") or []]
    failed = [text for text in sites if not text.endswith(f": {_FINE}")]
    reason = "; ".join([*filter(None, [why_not_scheduled(meta)]), *failed])
    return f": {reason}" if reason else ""
