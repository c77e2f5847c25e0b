"""Draws a hospital's stays: who comes, with which findings, before anything is left out or coded."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from wardround.workloads.clinical_risk.synth.hospitals import Hospital

Columns = Mapping[str, np.ndarray]
FIRST_DAY = np.datetime64("2022-01-01")
_ROWS_OF_A_PATIENT = (0.72, 0.18, 0.07, 0.03)  # one stay, two, three, four


@dataclass(frozen=True)
class Stays:
    """All stays of a hospital, one after the other by patient; every array has one entry a stay.

    Args:
        patients: number of the patient, from 0.
        places: which of the patient's stays, from 0.
        columns: the contract's inputs by name, numbers in its units and categories as its values.
        frailty: a patient's risk that no column shows, in log-odds.
    """

    patients: np.ndarray
    places: np.ndarray
    columns: Columns
    frailty: np.ndarray


def draw_stays(hospital: Hospital, count: int, seed: int) -> Stays:
    """Draws `count` stays. About a quarter of the patients come more than once."""
    generator = hospital.generator("stays", seed)
    rows = generator.choice(len(_ROWS_OF_A_PATIENT), size=count, p=_ROWS_OF_A_PATIENT) + 1
    patients = np.repeat(np.arange(count), rows)[:count]
    starts = np.searchsorted(patients, patients)  # where each stay's patient begins
    places = np.arange(count) - starts
    age = np.clip(generator.normal(66 + hospital.age, 14, count)[patients], 18, 100).round()
    severity = generator.normal(hospital.severity, 1, count)[patients] + 0.2 * (age - 66) / 14
    male = (generator.random(count) < 0.5)[patients]
    diabetic = (generator.random(count) < 0.35)[patients]
    columns = {
        "age": age,
        "sex": np.where(male, "male", "female"),
        **_course(generator, hospital, age, severity, places),
        **_findings(generator, age, severity, male, diabetic),
    }
    return Stays(patients, places, columns, generator.normal(0, 0.3, count)[patients])


def _course(
    generator: np.random.Generator, hospital: Hospital, age: np.ndarray, severity: np.ndarray, places: np.ndarray
) -> dict[str, np.ndarray]:
    """The stay: how it came about, what was given, where it led."""
    count = len(age)
    emergency = generator.random(count) < expit(0.1 + hospital.emergency + 0.3 * severity)
    urgent = generator.random(count) < 0.4
    dependent = expit(-2.2 + 0.06 * (age - 66) + 0.5 * severity)
    nursing, care = generator.random((2, count))
    insured = generator.random((2, count))
    elderly = age >= 65
    return {
        "admission_type": np.where(emergency, "emergency", np.where(urgent, "urgent", "elective")),
        "prior_admissions": generator.poisson(np.exp(-0.8 + 0.5 * severity)).astype(float) + places,
        "length_of_stay": np.clip(np.exp(generator.normal(1.4 + 0.25 * severity, 0.6)).round(), 1, 90),
        "medications": np.clip(generator.poisson(np.exp(1.9 + 0.2 * severity)), 0, 40).astype(float),
        "heart_failure": np.where(generator.random(count) < expit(-1.7 + 0.9 * severity), "yes", "no"),
        "discharge_to": np.where(
            nursing < 0.6 * dependent, "nursing_facility", np.where(care < dependent, "home_care", "home")
        ),
        "insurance": np.where(
            insured[0] < np.where(elderly, 0.92, 0.45), "public", np.where(insured[1] < 0.8, "private", "self_pay")
        ),
    }


def _findings(
    generator: np.random.Generator, age: np.ndarray, severity: np.ndarray, male: np.ndarray, diabetic: np.ndarray
) -> dict[str, np.ndarray]:
    """Measured values, rounded as laboratories report them."""
    noise = generator.normal(0, 1, (6, len(age)))
    creatinine = np.exp(np.log(82) + 0.22 * severity + 0.12 * male + 0.004 * (age - 66) + 0.28 * noise[0])
    glucose = np.exp(np.log(5.8) + 0.38 * diabetic + 0.2 * noise[3])
    hba1c = 5.5 + 1.9 * diabetic + 0.08 * (glucose - 6) + (0.35 + 0.5 * diabetic) * noise[4]
    return {
        "creatinine": np.clip(creatinine, 30, 1200).round(),
        "hemoglobin": np.clip(12.4 + 1.0 * male - 0.7 * severity + 1.4 * noise[1], 4, 20).round(1),
        "sodium": np.clip(138.5 - 0.9 * severity + 3.0 * noise[2], 110, 165).round(),
        "glucose": np.clip(glucose, 2, 40).round(1),
        "hba1c": np.clip(hba1c, 4, 16).round(1),
        "systolic_pressure": np.clip(134 + 0.2 * (age - 66) - 4 * severity + 17 * noise[5], 60, 240).round(),
    }
