"""When a hospital's machine may train: times of the week in the hospital's own time zone, and hours a day."""

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Annotated, Any, Literal, get_args
from zoneinfo import ZoneInfo

from pydantic import Field, field_serializer, field_validator, model_validator

from wardround.records.section import SAID_OR_LEFT_OUT, Section

Day = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
DAYS: tuple[Day, ...] = get_args(Day)

_MINUTES = 24 * 60
_CLOCK = re.compile(r"([01]?\d|2[0-4]):([0-5]\d)")
_AHEAD = timedelta(days=8)  # a week, and the day on which clocks change


class Window(Section):
    """From one time of the day to another on some days of the week. One that ends before it starts ends the next day.

    Times are those of the wall clock. So where clocks change, a window can have an hour more or less, or vanish.
    """

    days: tuple[Day, ...] = Field(DAYS, min_length=1, description="on which it starts; by default every day")
    start: int = Field(0, alias="from", description='time of the day, such as "20:00"; by default "00:00"')
    end: int = Field(
        _MINUTES,
        alias="to",
        description='such as "06:00", on the next day if that is before `from`; by default "24:00"',
    )

    @field_validator("start", "end", mode="before")
    @classmethod
    def _of_the_day(cls, value: Any) -> int:
        """Minutes since midnight. A number is no time: nobody can tell whether 700 means seven or 11:40."""
        match = _CLOCK.fullmatch(value) if isinstance(value, str) else None
        minutes = 60 * int(match[1]) + int(match[2]) if match else -1
        if not 0 <= minutes <= _MINUTES:
            raise ValueError('expected a time of the day in quotes, such as "20:00"')
        return minutes

    @field_validator("days")
    @classmethod
    def _each_once(cls, days: tuple[Day, ...]) -> tuple[Day, ...]:
        if len(set(days)) < len(days):
            raise ValueError("expected each day once")
        return days

    @field_serializer("start", "end")
    def _as_written(self, minutes: int) -> str:
        return f"{minutes // 60:02}:{minutes % 60:02}"

    @model_validator(mode="after")
    def _of_some_length(self) -> "Window":
        if self.start == _MINUTES:
            raise ValueError('`from` is "24:00", when the day is over; write "00:00" and the next day')
        if self.start == self.end % _MINUTES and (self.start, self.end) != (0, _MINUTES):
            raise ValueError(
                "`from` and `to` are the same time, so the window is empty or a whole day; "
                "for a whole day leave both out"
            )
        return self

    def holds(self, weekday: int, minute: int) -> bool:
        """Whether it is open at a minute of a day (Monday is 0)."""
        if self.start < self.end:
            return DAYS[weekday] in self.days and self.start <= minute < self.end
        late = DAYS[weekday] in self.days and minute >= self.start
        return late or (DAYS[weekday - 1] in self.days and minute < self.end)


class TrainingWindows(Section):
    """The section `training_windows` of a site.yaml."""

    time_zone: str = Field(description="of the times and days here, such as Europe/Berlin")
    weekly: tuple[Window, ...] = Field((), description="when the site trains; by default at any time")
    device_hours_a_day: Annotated[float | None, SAID_OR_LEFT_OUT] = Field(
        None,
        ge=0.01,
        le=24,
        description="hours that training and scoring may take in a day on the site's device, GPU or CPU; 0.01 (36 "
        "seconds) at least, and evaluate as `role` for a site that is not to train",
    )
    score_outside_windows: bool = Field(
        True, description="false: outside these times models are not scored either; reading data is always allowed"
    )

    @field_validator("time_zone")
    @classmethod
    def _known(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (KeyError, ValueError, OSError) as error:
            raise ValueError("no time zone of this name is known; expected one such as Europe/Berlin") from error
        return name

    @model_validator(mode="after")
    def _that_limit_something(self) -> "TrainingWindows":
        if not self.weekly and self.device_hours_a_day is None:
            raise ValueError("neither weekly nor device_hours_a_day is set, so nothing is limited; set one")
        return self

    @property
    def zone(self) -> ZoneInfo:
        """Of `time_zone`."""
        return ZoneInfo(self.time_zone)

    def day(self, moment: datetime) -> date:
        """The calendar day at the hospital."""
        return moment.astimezone(self.zone).date()

    def is_open(self, moment: datetime) -> bool:
        """Whether one of the windows is open; without any, always."""
        local = moment.astimezone(self.zone)
        minute = 60 * local.hour + local.minute
        return not self.weekly or any(window.holds(local.weekday(), minute) for window in self.weekly)

    def next_open(self, moment: datetime, *, spent: date | None = None) -> datetime | None:
        """The first moment from now on in a window, but not on the day `spent`; None where none is in a week.

        Looked for minute by minute, which is right where clocks change, too.
        """
        return self._first(moment, lambda at: self.is_open(at) and self.day(at) != spent)

    def closes(self, moment: datetime) -> datetime | None:
        """When the window that is open now ends; None where none does in a week."""
        return self._first(moment, lambda at: not self.is_open(at))

    def _first(self, moment: datetime, holds: Callable[[datetime], bool]) -> datetime | None:
        if holds(moment):
            return moment
        minute = moment.replace(second=0, microsecond=0)
        minutes = (minute + timedelta(minutes=count) for count in range(1, _AHEAD // timedelta(minutes=1)))
        return next((at for at in minutes if holds(at)), None)
