"""The ledger: nothing is lost between processes, and a broken file does not give the day anew."""

import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from wardround.records.reasons import Reason, WardroundError
from wardround.site import device_hours
from wardround.site.device_hours import DeviceHours, Meter

MONDAY, TUESDAY = date(2026, 11, 30), date(2026, 12, 1)


def test_use_adds_up_by_day_over_processes_lives(tmp_path: Path) -> None:
    DeviceHours(tmp_path / "state").add(MONDAY, 1800)
    DeviceHours(tmp_path / "state").add(MONDAY, 900)
    DeviceHours(tmp_path / "state").add(TUESDAY, 3600)
    assert DeviceHours(tmp_path / "state").used(MONDAY) == 0.75
    assert DeviceHours(tmp_path / "state").used(TUESDAY) == 1.0
    assert DeviceHours(tmp_path / "state").used(date(2026, 12, 2)) == 0.0


def test_two_processes_that_add_at_once_lose_nothing(tmp_path: Path) -> None:
    script = (
        "import sys; from datetime import date; from pathlib import Path;"
        "from wardround.site.device_hours import DeviceHours\n"
        "for _ in range(50): DeviceHours(Path(sys.argv[1])).add(date(2026, 11, 30), 36)"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    children = [subprocess.Popen(command, env={"PYTHONPATH": ":".join(sys.path)}) for _ in range(2)]
    assert [child.wait() for child in children] == [0, 0]
    assert DeviceHours(tmp_path).used(MONDAY) == pytest.approx(1.0)


@pytest.mark.parametrize("seconds", ['"a lot"', "-1e9", "NaN"])
def test_a_file_that_is_no_ledger_is_named_and_allows_nothing(tmp_path: Path, seconds: str) -> None:
    (tmp_path / "device_hours.json").write_text(f'{{"seconds": {{"2026-11-30": {seconds}}}}}')
    with pytest.raises(WardroundError, match=r"device_hours\.json") as caught:
        DeviceHours(tmp_path).used(MONDAY)
    assert caught.value.code is Reason.CONFIGURATION_INVALID


def test_old_days_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_hours, "_DAYS_KEPT", 1)
    DeviceHours(tmp_path).add(MONDAY, 60)
    DeviceHours(tmp_path).add(TUESDAY, 60)
    assert DeviceHours(tmp_path).used(MONDAY) == 0.0
    assert DeviceHours(tmp_path).used(TUESDAY) > 0


def test_a_meter_writes_while_it_runs_and_to_the_day_on_which_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, days = [100.0], [MONDAY]
    monkeypatch.setattr(device_hours.time, "monotonic", lambda: clock[0])
    hours = DeviceHours(tmp_path)
    meter = Meter(hours, lambda _moment: days[0])
    clock[0] += 9
    meter.tick(every_seconds=10)
    assert hours.used(MONDAY) == 0
    clock[0] += 9
    meter.tick(every_seconds=10)
    assert hours.used(MONDAY) == pytest.approx(18 / 3600)
    days[0] = TUESDAY
    clock[0] += 2
    meter.tick()
    assert hours.used(TUESDAY) == pytest.approx(2 / 3600)
