"""When a site may train: days, nights, time zones and the days on which clocks change."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from wardround.records.reasons import Reason, WardroundError
from wardround.site.config import SiteConfig, load_site_config, resolved_yaml
from wardround.site.windows import DAYS, TrainingWindows

WORKDAYS = list(DAYS[:5])
BERLIN = "Europe/Berlin"


def _windows(*weekly: dict[str, Any], zone: str = BERLIN, **more: Any) -> TrainingWindows:
    return TrainingWindows.model_validate({"time_zone": zone, "weekly": list(weekly), **more})


def _at(text: str, zone: str = "UTC") -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=_windows({}, zone=zone).zone)


@pytest.mark.parametrize(
    ("moment", "open_"),
    [
        ("2026-11-30T19:59", False),  # a Monday
        ("2026-11-30T20:00", True),
        ("2026-12-01T05:59", True),
        ("2026-12-01T06:00", False),
        ("2026-12-05T03:00", True),  # Friday's window reaches into Saturday
        ("2026-12-05T21:00", False),  # no window starts on a Saturday
        ("2026-12-07T03:00", False),  # nor on the Sunday before this Monday
    ],
)
def test_a_window_over_midnight_belongs_to_the_day_on_which_it_starts(moment: str, open_: bool) -> None:
    windows = _windows({"days": WORKDAYS, "from": "20:00", "to": "06:00"})
    assert windows.is_open(_at(moment, BERLIN)) is open_
    assert windows.is_open(_at(moment, BERLIN).astimezone(UTC)) is open_


def test_windows_of_one_day_of_whole_days_and_several_at_once() -> None:
    windows = _windows({"days": ["wednesday"], "from": "12:00", "to": "13:30"}, {"days": ["saturday", "sunday"]})
    opened = [_at("2026-11-30T00:00", BERLIN) + timedelta(minutes=30 * half) for half in range(48 * 7)]
    hours = [moment for moment in opened if windows.is_open(moment)]
    assert len(hours) == 3 + 2 * 48
    assert {moment.weekday() for moment in hours} == {2, 5, 6}


def test_without_windows_it_is_always_open() -> None:
    windows = _windows(device_hours_a_day=2.0)
    now = _at("2026-11-30T12:00")
    assert windows.is_open(now)
    assert windows.next_open(now) == now
    assert windows.closes(now) is None


def test_the_time_is_the_hospitals_own() -> None:
    windows = _windows({"from": "20:00", "to": "21:00"}, zone="Asia/Kolkata")  # UTC+5:30
    assert windows.is_open(_at("2026-11-30T14:30"))
    assert not windows.is_open(_at("2026-11-30T20:30"))
    assert windows.day(_at("2026-11-30T19:00")) == date(2026, 12, 1)


def test_when_it_opens_and_closes() -> None:
    windows = _windows({"days": WORKDAYS, "from": "20:00", "to": "06:00"})
    assert windows.next_open(_at("2026-12-05T12:00:30", BERLIN)) == _at("2026-12-07T20:00", BERLIN)
    assert windows.closes(_at("2026-12-01T05:00:30", BERLIN)) == _at("2026-12-01T06:00", BERLIN)
    assert windows.next_open(_at("2026-11-30T21:00", BERLIN), spent=date(2026, 11, 30)) == _at("2026-12-01", BERLIN)


def test_where_a_spring_night_lacks_an_hour_the_window_is_shorter() -> None:
    windows = _windows({"from": "01:00", "to": "03:30"})
    opens = _at("2026-03-29T01:00", BERLIN).astimezone(UTC)  # at 02:00 it is 03:00
    minutes = [opens + timedelta(minutes=minute) for minute in range(-60, 240)]
    assert sum(windows.is_open(moment) for moment in minutes) == 90
    assert windows.closes(opens) == _at("2026-03-29T03:30", BERLIN)
    missing = _windows({"from": "02:15", "to": "02:45"})  # it does not exist on that day
    assert missing.next_open(opens) == _at("2026-03-30T02:15", BERLIN)
    begins_in_the_gap = _windows({"from": "02:30", "to": "05:00"})
    assert begins_in_the_gap.next_open(opens) == _at("2026-03-29T03:00", BERLIN)


def test_where_an_autumn_night_has_an_hour_twice_so_has_the_window() -> None:
    windows = _windows({"from": "02:00", "to": "03:00"})
    opens = _at("2026-10-25T02:00", BERLIN).astimezone(UTC)
    minutes = [opens + timedelta(minutes=minute) for minute in range(-60, 240)]
    assert sum(windows.is_open(moment) for moment in minutes) == 120


@pytest.mark.parametrize(
    ("section", "told"),
    [
        ("{weekly: [{from: '20:00'}]}", "time_zone: missing"),
        ("{time_zone: Europe/Berlín, weekly: [{from: '20:00'}]}", "no time zone of this name"),
        ("{time_zone: ../../etc/passwd, weekly: [{from: '20:00'}]}", "no time zone of this name"),
        ("{time_zone: UTC}", "nothing is limited"),
        ("{time_zone: UTC, weekly: [{from: '20:00', to: '20:00'}]}", "are the same time"),
        ("{time_zone: UTC, weekly: [{from: '00:00', to: '00:00'}]}", "are the same time"),
        ("{time_zone: UTC, weekly: [{from: '24:00', to: '06:00'}]}", "24:00"),
        ("{time_zone: UTC, weekly: [{from: '25:00'}]}", "expected a time of the day"),
        ("{time_zone: UTC, weekly: [{from: 20}]}", "expected a time of the day"),
        ("{time_zone: UTC, weekly: [{from: 600, to: 900}]}", "expected a time of the day"),
        ("{time_zone: UTC, weekly: [{from: 0700}]}", "expected a time of the day"),
        ("{time_zone: UTC, weekly: [{from: 20.30}]}", "expected a time of the day"),
        ("{time_zone: UTC, weekly: [{days: [monday, monday]}]}", "expected each day once"),
        ("{time_zone: UTC, device_hours_a_day: 0.00000001}", "device_hours_a_day"),
        ("{time_zone: UTC, weekly: [{from: true}]}", "truth values"),
        ("{time_zone: UTC, weekly: [{days: [mon]}]}", "days"),
        ("{time_zone: UTC, weekly: [{days: []}]}", "days"),
        ("{time_zone: UTC, device_hours_a_day: 0}", "device_hours_a_day"),
        ("{time_zone: UTC, device_hours_a_day: 25}", "device_hours_a_day"),
        ("{time_zone: UTC, gpu_hours: 2}", "unknown key"),
    ],
)
def test_what_makes_no_sense_is_told_by_its_key(tmp_path: Path, section: str, told: str) -> None:
    with pytest.raises(WardroundError) as caught:
        _load(tmp_path, section)
    assert caught.value.code is Reason.CONFIGURATION_INVALID
    assert "training_windows" in str(caught.value)
    assert told in str(caught.value)


def test_a_time_may_be_written_without_quotes_and_the_file_written_anew_says_the_same(tmp_path: Path) -> None:
    config = _load(
        tmp_path, "{time_zone: Europe/Berlin, weekly: [{days: [monday], from: 20:00, to: 06:30}, {from: '0:15'}]}"
    )
    assert config.training_windows is not None
    first, second = config.training_windows.weekly
    assert (first.start, first.end, second.start, second.end) == (1200, 390, 15, 1440)
    text = resolved_yaml(config)
    assert "from: '20:00'" in text
    (tmp_path / "again.yaml").write_text(text)
    assert load_site_config(tmp_path / "again.yaml").training_windows == config.training_windows


def test_a_file_written_anew_says_no_more_than_its_admin_did(tmp_path: Path) -> None:
    config = _load(tmp_path, "{time_zone: Europe/Berlin, weekly: [{from: 20:00}]}")
    (tmp_path / "again.yaml").write_text(resolved_yaml(config))
    again = yaml.safe_load(resolved_yaml(config))
    assert set(again) == {"name", "state_folder", "cache_folder", "training_windows", "data"}
    assert again["training_windows"] == {"time_zone": "Europe/Berlin", "weekly": [{"from": "20:00"}]}
    assert load_site_config(tmp_path / "again.yaml").model_dump() == config.model_dump()


def _load(folder: Path, section: str) -> SiteConfig:
    file = folder / "site.yaml"
    settings = {"name": "hospital-a", "data": {"fake": {}}}
    file.write_text(yaml.safe_dump(settings) + f"training_windows: {section}\n", encoding="utf-8")
    return load_site_config(file)
