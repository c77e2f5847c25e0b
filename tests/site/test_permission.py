"""A site's rules: the first that refuses is told."""

from datetime import UTC, datetime

from wardround.records.reasons import Reason
from wardround.site.permission import Permission
from wardround.site.refusal import Refusal

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


class _Refuses:
    def __init__(self, task: str, reason: Reason) -> None:
        self._task, self._refusal = task, Refusal(reason, f"no {task} here")

    def refusal(self, task: str, now: datetime) -> Refusal | None:
        return self._refusal if task == self._task else None


def test_without_rules_everything_is_allowed() -> None:
    assert Permission().refusal("train", NOW) is None


def test_the_first_rule_that_refuses_a_task_is_told_and_others_pass() -> None:
    rules = [_Refuses("prepare", Reason.SITE_FAILED), _Refuses("train", Reason.NOT_NOW), _Refuses("train", Reason.LATE)]
    permission = Permission(rules)
    refused = permission.refusal("train", NOW)
    assert refused is not None
    assert refused.error().code is Reason.NOT_NOW
    assert str(refused.error()) == "no train here"
    assert permission.refusal("validate", NOW) is None
