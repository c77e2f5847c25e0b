"""The benchmarks run and print every row. Their figures are for people to read, on a quiet machine."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("command", "rows"),
    [
        (
            ["imaging.py", "--turns", "2", "--steps", "3", "--no-federation"],
            ["learner step", "FedProx step", "MONAI pipeline"],
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
        env={**os.environ, "PYTHONPATH": str(ROOT / "custom"), "COLUMNS": "200"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert [row for row in rows if row not in done.stdout] == []
