"""FLamby's Fed-Heart-Disease (du Terrail et al., NeurIPS 2022): its rows, its split, and the accuracies it published.

FLamby drops the columns slope, ca and thal, then rows with a missing value, and divides what is left of each hospital
.66/.34 with seed 43, stratified by outcome where both classes have more than two rows. Its model is logistic
regression, on columns z-scored by each site's own statistics; its cp and restecg are dummies. A cholesterol of 0,
which means not measured, is a number there.
"""

import csv
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

SITES = ("cleveland", "hungarian", "switzerland", "va")
SOURCE = "FLamby, NeurIPS 2022, as reported in its benchmark of Fed-Heart-Disease; accuracy, mean of 5 seeds"
PUBLISHED = {
    "FLamby: FedAvg = FedProx": (0.731, 0.719, 0.650, 0.640),
    "FLamby: FedYogi = FedAdagrad": (0.760, 0.753, 0.738, 0.676),
    "FLamby: pooled": (0.783, 0.764, 0.750, 0.644),
    "FLamby: own site only": (0.746, 0.746, 0.725, 0.702),
}
_DROPPED = (10, 11, 12)
_READ = ("age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach", "exang", "oldpeak", "num")
_DUMMIES = {"cp": (2, 3, 4), "restecg": (1, 2)}  # each but the first code
_RANGES = {"age": (0, 120), "trestbps": (0, 300), "chol": (0, 1000), "thalach": (0, 300), "oldpeak": (-10, 10)}
_COLUMNS = (
    *(name for name in _READ[:-1] if name not in _DUMMIES),
    *(f"{name}_{code}" for name, codes in _DUMMIES.items() for code in codes),
)


def write_split(raw: Path, file: Path, site: str) -> None:
    """Writes one hospital's complete rows with a column `split`.

    Args:
        raw: the folder of UCI's processed files.
        file: the CSV to write.
        site: of `SITES`.
    """
    with (raw / f"processed.{site}.data").open(newline="") as source:
        rows = [[v.strip() for i, v in enumerate(row) if i not in _DROPPED] for row in csv.reader(source) if row]
    complete = [list(map(float, row)) for row in rows if not {value.lower() for value in row} & {"?", "nan", ""}]
    positive = np.array([row[-1] > 0 for row in complete])
    _, test = train_test_split(
        np.arange(len(complete)), test_size=0.34, train_size=0.66, random_state=43, stratify=_strata(positive)
    )
    split = np.full(len(complete), "train", dtype=object)
    split[test] = "test"
    with file.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow([*_COLUMNS, "outcome", "split"])
        for row, outcome, part in zip(complete, positive, split, strict=True):
            writer.writerow([*_features(row), "yes" if outcome else "no", part])


def contract() -> dict[str, Any]:
    """What the columns mean: numbers all."""
    columns = {
        name: {"type": "number", "meaning": "as in the files", "unit": "as in the files", "range": _range(name)}
        for name in _COLUMNS
    }
    return {
        "patient": "a row of the files",
        "index_date": "date of the visit",
        "outcome": {"name": "heart_disease", "meaning": "num above 0", "horizon_days": None},
        "columns": columns,
    }


def section(file: Path) -> dict[str, Any]:
    """The site's settings for a file of `write_split`."""
    return {
        "source": {"kind": "csv", "file": str(file)},
        "columns": {name: {"column": name} for name in _COLUMNS},
        "known_at_index": True,
        "outcome": {"column": "outcome"},
        "split_column": "split",
    }


def _features(row: list[float]) -> list[float]:
    named = dict(zip(_READ, row, strict=True))
    dummies = {f"{name}_{code}": float(named[name] == code) for name, codes in _DUMMIES.items() for code in codes}
    return [{**named, **dummies}[name] for name in _COLUMNS]


def _range(name: str) -> tuple[float, float]:
    return _RANGES.get(name, (0, 1))


def _strata(positive: "np.ndarray[Any, np.dtype[np.bool_]]") -> "np.ndarray[Any, np.dtype[np.bool_]] | None":
    return positive if min(positive.sum(), (~positive).sum()) > 2 else None
