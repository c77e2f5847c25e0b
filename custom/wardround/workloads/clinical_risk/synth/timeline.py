"""When stays ended and values were measured. A patient's next stay begins when the outcome of the last says so."""

from dataclasses import dataclass

import numpy as np

from wardround.workloads.clinical_risk.synth.hospitals import Hospital
from wardround.workloads.clinical_risk.synth.stays import FIRST_DAY, Stays

_FIRST_STAYS_DAYS = 500
HORIZON_DAYS = 30


@dataclass(frozen=True)
class Timeline:
    """Dates by stay, datetime64[D]: discharge is the index date, and no value was measured after it."""

    discharge: np.ndarray
    laboratory: np.ndarray
    pressure: np.ndarray


def draw_timeline(hospital: Hospital, stays: Stays, readmitted: np.ndarray, seed: int) -> Timeline:
    """Dates that agree with the outcomes: within 30 days to the next admission, or more."""
    generator = hospital.generator("dates", seed)
    count = len(stays.patients)
    start, gap, laboratory, pressure = generator.random((4, count))
    length = stays.columns["length_of_stay"]
    pause = np.where(readmitted, 1 + np.floor(gap * HORIZON_DAYS), 1 + HORIZON_DAYS + np.floor(gap * 200))
    discharge = np.floor(start * _FIRST_STAYS_DAYS) + length
    for row in range(1, count):
        if stays.places[row]:
            discharge[row] = discharge[row - 1] + pause[row - 1] + length[row]
    lead = np.minimum(length, 7)  # values are from the stay's last week
    return Timeline(
        _dates(discharge), _dates(discharge - np.floor(laboratory * lead)), _dates(discharge - np.floor(pressure * 2))
    )


def _dates(days: np.ndarray) -> np.ndarray:
    return FIRST_DAY + days.astype(int).astype("timedelta64[D]")
