"""The benchmarks run and print every row. Their figures are for people to read, on a quiet machine."""

import subprocess
import sys
from pathlib import Path

import pytest

from support.public_data import needs_data, with_data

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("command", "rows"),
    [
        (
            ["imaging.py", "--turns", "2", "--steps", "3", "--no-federation"],
            ["learner step", "FedProx step", "MONAI pipeline"],
        ),
        (
            ["tabular.py", "--turns", "2", "--rows", "300", "--no-table"],
            ["learner epoch", "FedProx epoch", "PTFedProxLoss", "DataLoader"],
        ),
        (
            ["image_inspection.py", "--cases", "3", "--whole", "1", "--side", "20", "20", "16"],
            ["headers of 3 cases", "nibabel.load", "in one thread", "get_fdata"],
        ),
        pytest.param(
            ["tabular.py", "--turns", "2", "--rows", "300"],
            ["101,766", "peak memory"],
            marks=[pytest.mark.e2e, needs_data("diabetes130")],
        ),
        pytest.param(
            ["heart_disease.py", "--seeds", "1", "--rounds", "1"],
            ["pooled", "each alone", "local head", "switzerland, AUROC"],
            marks=needs_data("heart_disease"),
        ),
        pytest.param(
            ["heart_disease.py", "--seeds", "1", "--rounds", "1", "--flamby"],
            ["FLamby: pooled", "15 of 16", "held back"],
            marks=[pytest.mark.e2e, needs_data("heart_disease")],
        ),
        pytest.param(
            ["readmission.py", "--seeds", "1", "--rounds", "1"],
            ["pooled", "each alone", "logistic regression, pooled"],
            marks=[pytest.mark.e2e, needs_data("diabetes130")],
        ),
        pytest.param(
            ["heterogeneity.py", "--seeds", "1", "--rounds", "1", "--steps", "1", "--size", "24", "--only", "twelve"],
            ["fedavg", "alone", "hospital-c"],
            marks=pytest.mark.e2e,
        ),
    ],
)
def test_a_benchmark_prints_its_rows(command: list[str], rows: list[str]) -> None:
    script, *options = command
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / script), *options],
        capture_output=True,
        text=True,
        env=with_data(PYTHONPATH=str(ROOT / "custom"), COLUMNS="200"),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert [row for row in rows if row not in done.stdout] == []
