"""Whether a hospital lets a task happen now: asked before each task, and again and again while one runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import Study
from wardround.site.config import SiteConfig


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
        """None where `task` (prepare, train, validate, submit_model) may happen at `now`, which has a time zone.

        Asked every second while a task runs, so it should take a millisecond at most.
        """


class Permission:
    """All rules of a site for one study; the first that refuses is told."""

    def __init__(self, rules: Sequence[Rule] = ()) -> None:
        self._rules = tuple(rules)

    def refusal(self, task: str, now: datetime) -> Refusal | None:
        """See `Rule.refusal`."""
        return next((found for rule in self._rules if (found := rule.refusal(task, now))), None)


def site_permission(study: Study, config: SiteConfig) -> Permission:  # noqa: ARG001 - rules come with what they rest on
    """The rules that apply to a study at a site."""
    return Permission()
