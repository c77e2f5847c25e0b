"""Whether a hospital lets a task happen now: asked before each task, and again and again while one runs."""

from collections.abc import Sequence
from datetime import datetime

from wardround.records.study import Study
from wardround.site.config import SiteConfig
from wardround.site.consent import Consent
from wardround.site.device_hours import DeviceHours
from wardround.site.refusal import Refusal, Rule
from wardround.site.training_times import TrainingTimes


class Permission:
    """All rules of a site for one study; the first that refuses is told."""

    def __init__(self, rules: Sequence[Rule] = ()) -> None:
        self._rules = tuple(rules)

    def refusal(self, task: str, now: datetime) -> Refusal | None:
        """See `Rule.refusal`."""
        return next((found for rule in self._rules if (found := rule.refusal(task, now))), None)


def site_permission(study: Study, config: SiteConfig) -> Permission:
    """The rules that apply to a study at a site."""
    rules: list[Rule] = [Consent(study, config)]
    if config.training_windows is not None:
        rules.append(TrainingTimes(config.training_windows, DeviceHours(config.state_folder)))
    return Permission(rules)
