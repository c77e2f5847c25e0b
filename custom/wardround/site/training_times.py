"""The rule of a site's training windows and of its hours a day."""

import time
from datetime import UTC, date, datetime

from wardround.records.orders import TRAIN, VALIDATE
from wardround.records.reasons import Reason
from wardround.site.device_hours import DeviceHours
from wardround.site.refusal import Refusal
from wardround.site.windows import TrainingWindows

_LOOK_AGAIN_SECONDS = 5.0  # other jobs use the same hours


class TrainingTimes:
    """Refuses training, with `not_now`, outside the windows and when the day's hours are used.

    Preparing trains nothing and holds no device, so it is always allowed: a site that could not even say what it has
    would be left out of runs that it can take part in later. Scoring, with the fine-tuning of the last scores, is
    allowed too unless the site says otherwise, since a run without a site's scores is incomplete.
    """

    def __init__(self, windows: TrainingWindows, hours: DeviceHours) -> None:
        self._windows, self._hours = windows, hours
        self._seen: tuple[float, date, float] | None = None

    def refusal(self, task: str, now: datetime) -> Refusal | None:
        """See `Rule`."""
        windows = self._windows
        if not (task == TRAIN or (task == VALIDATE and not windows.score_outside_windows)):
            return None
        if not windows.is_open(now):
            return self._not_now("outside the site's training windows", windows.next_open(now))
        limit = windows.device_hours_a_day
        if limit is not None and self._used(windows.day(now)) >= limit:
            opens = windows.next_open(now, spent=windows.day(now))
            return self._not_now(f"the day's {limit:g} device hours are used", opens)
        return None

    def _used(self, day: date) -> float:
        if self._seen is None or self._seen[1] != day or time.monotonic() > self._seen[0] + _LOOK_AGAIN_SECONDS:
            self._seen = time.monotonic(), day, self._hours.used(day)
        return self._seen[2]

    def _not_now(self, why: str, opens: datetime | None) -> Refusal:
        when = f"open again {words(opens, self._windows)}" if opens else "none opens within a week"
        return Refusal(Reason.NOT_NOW, f"training_windows: {why}; {when}", opens)


def words(moment: datetime, windows: TrainingWindows) -> str:
    """A moment in the hospital's own time, such as `Monday 2026-11-30 20:00 (Europe/Berlin)`."""
    return f"{moment.astimezone(windows.zone):%A %Y-%m-%d %H:%M} ({windows.time_zone})"


def situation(windows: TrainingWindows | None, hours: DeviceHours, now: datetime | None = None) -> str:
    """One line for the site's admin: whether training is allowed, and the hours of the day."""
    if windows is None:
        return "at any time"
    now = now or datetime.now(UTC)
    if refusal := TrainingTimes(windows, hours).refusal(TRAIN, now):
        told = refusal.told.removeprefix("training_windows: ")
    else:
        closes = windows.closes(now)
        told = f"open until {words(closes, windows)}" if closes else "open at any time"
    used = f"{hours.used(windows.day(now)):.1f}"
    limit = "" if windows.device_hours_a_day is None else f" of {windows.device_hours_a_day:g}"
    return f"{told}; {used}{limit} device hours used today"
