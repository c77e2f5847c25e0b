"""The truth that a network has to find: log-odds of readmission within 30 days, mildly nonlinear in the columns."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from wardround.workloads.clinical_risk.synth.hospitals import Hospital
from wardround.workloads.clinical_risk.synth.stays import Columns, Stays

INTERCEPT = -3.1
EFFECTS = {  # log-odds a unit of `terms`
    "age": 0.15,
    "age_squared": 0.10,
    "prior_admissions": 0.80,
    "length_of_stay": 0.35,
    "emergency": 0.40,
    "creatinine": 0.45,
    "anemia": 0.25,
    "sodium": 0.35,
    "glucose": 0.50,
    "medications": 0.20,
    "heart_failure": 0.45,
    "anemia_with_heart_failure": 0.20,
    "nursing_facility": 0.45,
}


def terms(columns: Columns) -> dict[str, np.ndarray]:
    """What the log-odds are linear in: logarithms, deficits (0 within the normal range) and one interaction."""
    age = (columns["age"] - 66) / 14
    anemia = np.maximum(0, 12 - columns["hemoglobin"])
    failing = (columns["heart_failure"] == "yes").astype(float)
    return {
        "age": age,
        "age_squared": age**2,
        "prior_admissions": np.log1p(columns["prior_admissions"]),
        "length_of_stay": np.log(columns["length_of_stay"] / 4),
        "emergency": (columns["admission_type"] == "emergency").astype(float),
        "creatinine": np.log2(columns["creatinine"] / 88),
        "anemia": anemia,
        "sodium": np.maximum(0, 136 - columns["sodium"]) / 3,
        "glucose": np.abs(np.log(columns["glucose"] / 6)),
        "medications": (columns["medications"] - 7) / 4,
        "heart_failure": failing,
        "anemia_with_heart_failure": anemia * failing,
        "nursing_facility": (columns["discharge_to"] == "nursing_facility").astype(float),
    }


def probabilities(hospital: Hospital, stays: Stays) -> np.ndarray:
    """Each stay's probability of readmission.

    A hospital's own effects would change how many come back. An intercept takes that back, so that they change only
    who does: sum expit(b + own effects) = sum expit(common effects).
    """
    found = terms(stays.columns)
    common = INTERCEPT + hospital.risk + stays.frailty + sum(EFFECTS[name] * found[name] for name in EFFECTS)
    if not any(hospital.effects.values()):
        return expit(common)
    own = common + sum(effect * found[name] for name, effect in hospital.effects.items())
    expected = expit(common).mean()
    return expit(own + brentq(lambda intercept: expit(own + intercept).mean() - expected, -30, 30))


def draw_outcomes(hospital: Hospital, stays: Stays, seed: int) -> np.ndarray:
    """Whether each stay was followed by another within 30 days, bool."""
    return hospital.generator("outcomes", seed).random(len(stays.patients)) < probabilities(hospital, stays)
