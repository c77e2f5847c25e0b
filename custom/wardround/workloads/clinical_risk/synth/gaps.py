"""Leaves values out: an order that was not placed, a field that was not filled in."""

import numpy as np
from scipy.special import expit, logit

from wardround.workloads.clinical_risk.synth.hospitals import Hospital
from wardround.workloads.clinical_risk.synth.stays import Columns

SHARES = {  # left out at every hospital
    "creatinine": 0.04,
    "hemoglobin": 0.06,
    "sodium": 0.06,
    "glucose": 0.08,
    "hba1c": 0.35,
    "systolic_pressure": 0.05,
    "discharge_to": 0.02,
    "insurance": 0.04,
}
_ORDERED_BY_GLUCOSE = -1.5  # log-odds: HbA1c is seldom left out where glucose is high, so its absence tells something


def draw_gaps(hospital: Hospital, columns: Columns, seed: int) -> dict[str, np.ndarray]:
    """Where each column is empty, bool by stay; columns that are always there are not named."""
    generator = hospital.generator("gaps", seed)
    drawn = {column: generator.random(len(columns["age"])) for column in SHARES}
    odds = {column: logit(share) + hospital.gaps.get(column, 0.0) for column, share in SHARES.items()}
    odds["hba1c"] = odds["hba1c"] + np.where(columns["glucose"] > 8, _ORDERED_BY_GLUCOSE, 0.0)
    return {column: drawn[column] < expit(odds[column]) for column in SHARES}
