"""What a site's rule is, and how it says no."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from wardround.records.reasons import Reason, WardroundError


@dataclass(frozen=True)
class Refusal:
    """Why not.

    Attributes:
        reason: the code that the server is told.
        told: for the site's own log: what is missing, and what the admin can do.
        until: when it would be allowed; None where no time is known, such as a consent that is not given.
    """

    reason: Reason
    told: str
    until: datetime | None = None

    def error(self) -> WardroundError:
        """As an exception, whose words stay at the site."""
        return WardroundError(self.reason, self.told)


class Rule(Protocol):
    """One condition of the hospital's, such as its training windows."""

    def refusal(self, task: str, now: datetime) -> Refusal | None:
        """None where `task` (prepare, train, validate) may happen at `now`, which has a time zone.

        Asked every second while a task runs, so it should take a millisecond at most.
        """
