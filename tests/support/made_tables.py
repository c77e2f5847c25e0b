"""A small clinical table: what a hospital has, its contract, and its section of site.yaml."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wardround.records.study import Study

CONTRACT: dict[str, Any] = {
    "patient": "a person",
    "index_date": "the day of discharge",
    "outcome": {"name": "readmitted", "meaning": "within 30 days", "horizon_days": 30},
    "columns": {
        "age": {"type": "number", "meaning": "at the index date", "unit": "a", "range": [0, 120]},
        "sex": {"type": "category", "meaning": "sex", "values": ["female", "male"], "other": False},
        "urea": {"type": "number", "meaning": "in blood", "unit": "mmol/L", "range": [0, 100]},
        "ward": {"type": "category", "meaning": "ward", "values": ["surgery", "medicine", "intensive"]},
        "beds": {"type": "number", "meaning": "of the hospital", "unit": "1", "range": [0, 1000]},
    },
    "cohorts": [{"name": "sex", "column": "sex"}, {"name": "age_band", "column": "age", "edges": [50, 65]}],
}
WORKLOAD: dict[str, Any] = {
    "kind": "clinical_risk",
    "contract": CONTRACT,
    "network": {"hidden": [8, 4], "dropout": 0.1},
}


def made_frame(seed: int, *, patients: int = 120, prevalence: float = 0.4) -> pl.DataFrame:
    """One to three rows a patient; urea and age drive the outcome; a fifth of urea and some wards are missing."""
    random = np.random.default_rng(seed)
    rows = np.repeat(np.arange(patients), random.integers(1, 4, patients))
    age = random.uniform(20, 90, patients)[rows].round()
    urea = random.gamma(4, 2, len(rows)).round(1)
    score = (age - 55) / 15 + (urea - 8) / 3 + random.normal(0, 0.7, len(rows))
    outcome = score > np.quantile(score, 1 - prevalence)
    ward = random.choice(["surgery", "medicine", "intensive", "garden"], len(rows))
    return pl.DataFrame(
        {
            "person": [f"s{seed}p{row}" for row in rows],
            "stay": [f"s{seed}e{place}" for place in range(len(rows))],
            "day": pl.Series(np.datetime64("2020-01-01") + random.integers(0, 365, len(rows))).dt.to_string(),
            "age": age,
            "sex": np.array(["female", "male"])[random.integers(0, 2, patients)[rows]],
            "urea": pl.Series(urea).scatter(np.flatnonzero(random.random(len(rows)) < 0.2), None),
            "ward": pl.Series(ward).scatter(np.flatnonzero(random.random(len(rows)) < 0.1), None),
            "beds": np.full(len(rows), 300.0),
            "readmitted": np.where(outcome, "yes", "no"),
        }
    )


def site_section(file: Path | str, **changes: Any) -> dict[str, Any]:
    """The `clinical_risk` section for a file that `made_frame` fills."""
    return {
        "source": {"kind": "csv", "file": str(file)},
        "patient": "person",
        "row_id": "stay",
        "index_date": "day",
        "columns": {name: {"column": name} for name in CONTRACT["columns"]},
        "known_at_index": True,
        "outcome": {"column": "readmitted"},
        **changes,
    }


def made_study(**changes: Any) -> Study:
    """`training__rounds=4` changes training.rounds."""
    settings: dict[str, Any] = {
        "name": "made_readmission",
        "workload": WORKLOAD,
        "algorithm": {"kind": "fedavg"},
        "training": {"rounds": 2, "local_steps": 20, "learning_rate": 0.01, "batch_size": 32},
        "evaluation": {"key_metric": "auroc"},
    }
    for key, value in changes.items():
        section, _, name = key.partition("__")
        settings[section] = {**settings[section], name: value} if name else value
    return Study.model_validate(settings)
