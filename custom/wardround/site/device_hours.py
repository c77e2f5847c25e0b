"""How long a site's device was used, day by day: `<state_folder>/device_hours.json`, over all runs and jobs."""

import json
import time
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wardround.records.files import locked, write_whole
from wardround.records.reasons import Reason, WardroundError

_FILE = "device_hours.json"
_LOCK = ".device_hours.lock"
_DAYS_KEPT = 400


class _Ledger(BaseModel):
    """Seconds by day, the hospital's calendar's."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    seconds: dict[date, Annotated[float, Field(ge=0)]] = Field(default_factory=dict)


class DeviceHours:
    """Reads and adds to a site's ledger; several jobs' processes may do so at once.

    Args:
        state_folder: of the site.
    """

    def __init__(self, state_folder: Path) -> None:
        self._folder = state_folder

    def used(self, day: date) -> float:
        """Hours on a day.

        Raises:
            WardroundError: the file is no ledger. It is not taken for an empty one, which would allow the day anew.
        """
        return self._read().seconds.get(day, 0.0) / 3600

    def add(self, day: date, seconds: float) -> None:
        """Adds use to a day; a kill leaves the old file or the new one.

        Raises:
            WardroundError: see `used`.
            OSError: the file cannot be written.
        """
        with locked(self._folder / _LOCK):
            held = self._read().seconds
            held[day] = held.get(day, 0.0) + seconds
            newest = dict(sorted(held.items())[-_DAYS_KEPT:])
            text = json.dumps(_Ledger(seconds=newest).model_dump(mode="json"), indent=2)
            write_whole(self._folder / _FILE, text.encode(), private=True)

    def _read(self) -> _Ledger:
        file = self._folder / _FILE
        try:
            return _Ledger.model_validate_json(file.read_bytes())
        except FileNotFoundError:
            return _Ledger()
        except ValidationError as error:
            raise WardroundError(
                Reason.CONFIGURATION_INVALID,
                f"{file}: expected seconds by day, found something else; move the file away to count from nothing",
            ) from error


class Meter:
    """Adds a task's time to the ledger while it runs, so that a kill loses little of it.

    Args:
        hours: the ledger.
        day: which day a moment belongs to.
    """

    def __init__(self, hours: DeviceHours, day: Callable[[datetime], date]) -> None:
        self._hours, self._day = hours, day
        self._since = time.monotonic()

    def tick(self, *, every_seconds: float = 0.0) -> None:
        """Adds what has passed, where that is at least so much."""
        passed = time.monotonic() - self._since
        if passed >= every_seconds:
            self._since += passed
            self._hours.add(self._day(datetime.now(UTC)), passed)
