"""What a check of a site found: one line for its admin."""

from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "warning", "failed", "skipped"]


@dataclass(frozen=True)
class Check:
    """One line of `wardround site preflight`.

    Attributes:
        name: what was looked at, such as `certificate`.
        status: `failed` where the site cannot work or must not; `skipped` where it could not be looked at here.
        text: what was found, and what to do where that is not good.
    """

    name: str
    status: Status
    text: str
