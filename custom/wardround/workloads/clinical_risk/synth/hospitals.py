"""What makes one generated hospital differ from another: its patients, their risk, its gaps and its coding."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from wardround.records.reasons import Reason, WardroundError

EVALUATE_ONLY = "hospital-d"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Knobs:
    """How far hospitals differ, each knob but the last from 0 (not at all) through 1 (as set below) upwards.

    Args:
        covariate: who comes: age, severity and emergencies. The risk of a given patient stays, so prevalence follows.
        prevalence: log-odds of readmission for everyone; the patients stay.
        concept: what a finding means for the risk; patients and prevalence stay.
        missingness: which values are left out; what they would have been stays.
        schema: whether each hospital has its own column names, units, codes and file format; the meaning stays.
    """

    covariate: float = 1.0
    prevalence: float = 1.0
    concept: float = 1.0
    missingness: float = 1.0
    schema: bool = True

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if name != "schema" and not (np.isfinite(value) and value >= 0):
                raise WardroundError(
                    Reason.CONFIGURATION_INVALID, f"--{name}-shift: expected 0 or more, found {value}; 0 turns it off"
                )


ALIKE = Knobs(0, 0, 0, 0, schema=False)
DEFAULT_KNOBS = Knobs()


@dataclass(frozen=True)
class Hospital:
    """One hospital, by what it adds to the common patient and to the common risk.

    Args:
        name: seeds the hospital's stays together with the seed.
        age: years added to the mean age.
        severity: standard deviations added to the mean of the severity that no column shows.
        emergency: log-odds added to an admission through the emergency department.
        risk: log-odds added to readmission.
        effects: added to the effects of `outcome.EFFECTS` by name.
        gaps: log-odds added to a value's being left out, by column.
        coding: name of the coding in `coding.CODINGS`.
    """

    name: str
    age: float = 0.0
    severity: float = 0.0
    emergency: float = 0.0
    risk: float = 0.0
    effects: Mapping[str, float] = field(default_factory=dict)
    gaps: Mapping[str, float] = field(default_factory=dict)
    coding: str = "contract"

    def generator(self, part: str, seed: int) -> np.random.Generator:
        """Random numbers of one part, such as the gaps: their own, so that one knob leaves the other parts' alone."""
        return np.random.default_rng([seed, zlib.crc32(f"{part} of {self.name}".encode())])


HOSPITALS: dict[str, Hospital] = {
    hospital.name: hospital
    for hospital in (
        Hospital("hospital-a"),
        Hospital(  # old and acute, at a high risk; HbA1c is seldom ordered
            "hospital-b",
            age=7.0,
            severity=0.5,
            emergency=0.8,
            risk=0.5,
            effects={"creatinine": 0.35, "anemia": -0.15, "heart_failure": 0.3},
            gaps={"hba1c": 2.5, "hemoglobin": 1.0},
            coding="semicolons",
        ),
        Hospital(  # younger and planned, at a low risk; stays after planned surgery: the length means little
            "hospital-c",
            age=-8.0,
            severity=-0.4,
            emergency=-0.8,
            risk=-0.5,
            effects={"length_of_stay": -0.35, "medications": 0.2, "heart_failure": -0.3},
            gaps={"sodium": 2.5, "insurance": 2.5, "systolic_pressure": 1.0},
            coding="conventional_units",
        ),
        Hospital(
            "hospital-d",
            age=3.0,
            severity=0.2,
            emergency=0.3,
            risk=0.2,
            effects={"creatinine": 0.15, "medications": 0.1},
            gaps={"hba1c": 1.0, "creatinine": 1.0},
            coding="tabs",
        ),
    )
}


def choose_hospitals(count: int, *, seed: int, knobs: Knobs) -> list[Hospital]:
    """The first `count` hospitals: a to d as set above, further ones drawn from the seed.

    Args:
        count: how many, 1 to 26. The fourth only evaluates.
        seed: decides the drawn ones.
        knobs: what each hospital adds is multiplied by its knob.
    """
    if not 1 <= count <= len(_LETTERS):
        raise ValueError(f"hospitals: expected 1 to {len(_LETTERS)}, found {count}")
    names = [f"hospital-{letter}" for letter in _LETTERS[:count]]
    return [_turned(HOSPITALS.get(name) or _drawn(name, seed), knobs) for name in names]


def _turned(hospital: Hospital, knobs: Knobs) -> Hospital:
    return Hospital(
        hospital.name,
        age=hospital.age * knobs.covariate,
        severity=hospital.severity * knobs.covariate,
        emergency=hospital.emergency * knobs.covariate,
        risk=hospital.risk * knobs.prevalence,
        effects={name: value * knobs.concept for name, value in hospital.effects.items()},
        gaps={name: value * knobs.missingness for name, value in hospital.gaps.items()},
        coding=hospital.coding if knobs.schema else "contract",
    )


def _drawn(name: str, seed: int) -> Hospital:
    generator = Hospital(name).generator("settings", seed)
    coding = ("contract", "semicolons", "conventional_units", "tabs")[int(generator.integers(4))]
    effects = ("creatinine", "anemia", "heart_failure", "length_of_stay", "medications")
    gaps = ("hba1c", "sodium", "insurance", "hemoglobin")
    return Hospital(
        name,
        age=float(generator.uniform(-8, 8)),
        severity=float(generator.uniform(-0.5, 0.5)),
        emergency=float(generator.uniform(-0.8, 0.8)),
        risk=float(generator.uniform(-0.5, 0.5)),
        effects={effect: float(generator.uniform(-0.3, 0.3)) for effect in effects},
        gaps={column: float(generator.uniform(0, 2.5)) for column in gaps},
        coding=coding,
    )
