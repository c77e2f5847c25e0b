from pathlib import Path

import polars as pl
import pytest

from support.made_tables import WORKLOAD, made_frame, site_section
from wardround.workloads.clinical_risk.workload import make


@pytest.mark.parametrize("normalisation", ["federated", "site"])
def test_charts_show_the_rows_that_train_in_the_contracts_units(tmp_path: Path, normalisation: str) -> None:
    frame = made_frame(3)
    frame.write_csv(tmp_path / "stays.csv")
    settings = {key: value for key, value in WORKLOAD.items() if key != "kind"}
    workload = make({**settings, "normalisation": normalisation})
    data = workload.open_site(site_section(tmp_path / "stays.csv"), cache=tmp_path)
    outcome, age, sex, urea, ward, beds = data.illustrate().distributions
    rows = {split: data.counts[f"{split}_cases"] for split in ("train", "validation", "test")}
    for chart in (outcome, age, sex, urea, ward, beds):
        assert {split: sum(chart.counts[split]) + chart.missing[split] for split in rows} == rows
    assert outcome.counts["test"] == (data.counts["test_positive"], rows["test"] - data.counts["test_positive"])
    assert sum(count for split in rows for count in (sex.counts[split][0],)) == (frame["sex"] == "female").sum()
    assert ward.labels == ("surgery", "medicine", "intensive", "other")
    assert sum(ward.counts[split][3] for split in rows) == (frame["ward"] == "garden").sum()
    assert sum(urea.missing.values()) == frame["urea"].null_count()
    assert age.title == "age, a"
    low, high = (float(edge) for edge in age.labels[0].split(" to "))
    assert (low % 10, high - low) == (0, 10)  # a round width
    of_first = frame.filter(pl.col("age").is_between(low, high, closed="left"))
    assert sum(age.counts[split][0] for split in rows) == len(of_first)
    assert beds.labels == ("300",)
