"""Positions of a table's inputs, against the table itself."""

from pathlib import Path

import pytest

from support.small_risk import risk_site, risk_study
from wardround.records.disclosure import Disclosure
from wardround.records.input_statistics import InputStatistics
from wardround.workloads.clinical_risk.inputs import STEPS
from wardround.workloads.clinical_risk.settings import ClinicalRiskSiteSettings
from wardround.workloads.clinical_risk.table import read_table
from wardround.workloads.clinical_risk.workload import ClinicalRiskWorkload
from wardround.workloads.input_cells import input_tally, pooled_shares
from wardround.workloads.registry import make_workload
from wardround.workloads.words import words_of


def test_every_value_is_counted_where_it_lies(tmp_path: Path) -> None:
    study, config = risk_study(), risk_site(tmp_path)
    workload = make_workload(study)
    assert isinstance(workload, ClinicalRiskWorkload)
    section = config.section("clinical_risk")
    data = workload.open_new(section, cache=tmp_path, disclosure=Disclosure(minimum_cell=5))
    table = read_table(workload.settings.contract, ClinicalRiskSiteSettings.model_validate(section))
    counted = {column.name: (column, counts) for column, counts in data.inputs("test")}
    assert list(counted) == list(workload.settings.contract.columns) == list(table.frame.columns)
    for name, (column, counts) in counted.items():
        values = table.frame[name]
        assert counts[:, -1].sum() == values.null_count()
        assert counts.sum() == len(values)
        if column.edges is None:
            assert counts[:, 0].sum() == (values == column.labels[0]).sum()
        else:
            middle = column.edges[STEPS // 2]
            assert counts[:, : STEPS // 2].sum() == pytest.approx((values < middle).sum(), abs=1)  # float32 at the edge
    words = words_of(study.workload)
    tallies = [input_tally(column, counts, minimum_cell=5) for column, counts in counted.values()]
    assert all(words.knows_sum_of(tally.name, tally.counts) for tally in tallies)
    shares = pooled_shares(workload.input_columns(), tallies)
    assert InputStatistics(study="x", contract_sha256=None, inputs=shares)
    assert all(sum(cell.share for cell in one.cells) == pytest.approx(1) for one in shares)
    age = next(one for one in shares if one.name == "age")
    assert 5 <= len(age.cells) <= 10
