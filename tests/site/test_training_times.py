"""The rule of windows and hours: what it refuses, until when, and what the admin is told."""

from datetime import date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from wardround.records.reasons import Reason
from wardround.site import training_times
from wardround.site.device_hours import DeviceHours
from wardround.site.training_times import TrainingTimes, situation
from wardround.site.windows import TrainingWindows

ZONE = ZoneInfo("Europe/Berlin")
NOON = datetime(2026, 11, 30, 12, tzinfo=ZONE)
NIGHT = datetime(2026, 11, 30, 22, tzinfo=ZONE)
SECTION = {"time_zone": "Europe/Berlin", "weekly": [{"from": "20:00", "to": "06:00"}], "device_hours_a_day": 2.0}


@pytest.fixture
def hours(tmp_path: Path) -> DeviceHours:
    return DeviceHours(tmp_path)


def _rule(hours: DeviceHours, **changes: object) -> TrainingTimes:
    return TrainingTimes(TrainingWindows.model_validate({**SECTION, **changes}), hours)


def test_outside_the_windows_training_is_refused_until_the_next_opens(hours: DeviceHours) -> None:
    refused = _rule(hours).refusal("train", NOON)
    assert refused is not None
    assert refused.reason is Reason.NOT_NOW
    assert refused.until == NOON.replace(hour=20)
    assert "open again Monday 2026-11-30 20:00 (Europe/Berlin)" in refused.told
    assert _rule(hours).refusal("train", NIGHT) is None


def test_reading_and_scoring_are_allowed_at_any_time_and_scoring_is_not_where_the_site_says_so(
    hours: DeviceHours,
) -> None:
    for task in ("prepare", "validate"):
        assert _rule(hours).refusal(task, NOON) is None
    strict = _rule(hours, score_outside_windows=False)
    assert strict.refusal("prepare", NOON) is None
    assert strict.refusal("validate", NOON) is not None
    assert strict.refusal("validate", NIGHT) is None


def test_with_the_days_hours_used_it_is_refused_until_another_day(hours: DeviceHours) -> None:
    hours.add(date(2026, 11, 30), 2 * 3600 - 1)
    assert _rule(hours).refusal("train", NIGHT) is None
    hours.add(date(2026, 11, 30), 1)
    refused = _rule(hours).refusal("train", NIGHT)
    assert refused is not None
    assert refused.until == datetime(2026, 12, 1, tzinfo=ZONE)
    assert "2 device hours" in refused.told
    assert _rule(hours).refusal("train", NIGHT + timedelta(hours=3)) is None
    all_day = _rule(hours, weekly=[])
    refused = all_day.refusal("train", NOON)
    assert refused is not None
    assert refused.until == datetime(2026, 12, 1, tzinfo=ZONE)


def test_hours_that_another_job_uses_are_seen_within_seconds(
    hours: DeviceHours, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(training_times.time, "monotonic", lambda: now[0])
    rule = _rule(hours)
    assert rule.refusal("train", NIGHT) is None
    DeviceHours(hours._folder).add(date(2026, 11, 30), 7200)
    now[0] = 5.1
    assert rule.refusal("train", NIGHT) is not None


def test_the_admin_is_told_in_one_line(hours: DeviceHours) -> None:
    windows = TrainingWindows.model_validate(SECTION)
    assert situation(None, hours) == "at any time"
    assert situation(windows, hours, NIGHT) == (
        "open until Tuesday 2026-12-01 06:00 (Europe/Berlin); 0.0 of 2 device hours used today"
    )
    hours.add(date(2026, 11, 30), 5400)
    assert situation(windows, hours, NOON) == (
        "outside the site's training windows; open again Monday 2026-11-30 20:00 (Europe/Berlin); "
        "1.5 of 2 device hours used today"
    )
    always = TrainingWindows.model_validate({**SECTION, "weekly": []})
    assert situation(always, hours, NOON) == "open at any time; 1.5 of 2 device hours used today"
