import numpy as np
import polars as pl
import pytest
import torch

from support.made_tables import made_frame, made_study, site_section
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.registry import make_workload


@pytest.fixture
def site(tmp_path):
    """A hospital's own table; of the rows to predict for, nobody knows the outcome or which split they are in."""
    made_frame(1).write_csv(tmp_path / "stays.csv")
    asked = made_frame(2, patients=20).drop("readmitted")
    asked.write_csv(tmp_path / "asked.csv")
    asked.write_parquet(tmp_path / "asked.parquet")
    return tmp_path


def predicted(site, network, workload, name="asked.csv", file="risks.csv", **section):
    data = site_section(site / "stays.csv", **section)
    return workload.predict(network, site / name, site / file, data=data)


@pytest.fixture
def workload():
    return make_workload(made_study())


@pytest.mark.parametrize("name", ["asked.csv", "asked.parquet"])
def test_each_row_gets_a_risk(site, workload, name):
    network = workload.network().eval()
    figures = predicted(site, network, workload, name)
    asked, risks = made_frame(2, patients=20), pl.read_csv(site / "risks.csv")
    assert risks.columns == ["number", "row", "patient", "risk"]
    assert risks["row"].to_list() == asked["stay"].to_list()
    assert risks["patient"].to_list() == asked["person"].to_list()
    assert risks["risk"].is_between(0, 1).all()
    assert figures == {"rows": len(asked), "without_risk": 0, "mean_risk": pytest.approx(risks["risk"].mean())}


def test_the_risks_are_those_that_were_scored(site, workload):
    network = workload.network().eval()
    data = workload.open_site(site_section(site / "stays.csv"), cache=site)
    scored = {case.case: case.values["probability"] for case in data.score(network, "test").cases}
    predicted(site, network, workload, "stays.csv")
    risks = dict(pl.read_csv(site / "risks.csv").select("row", "risk").iter_rows())
    assert scored
    for case, probability in scored.items():
        assert risks[case] == pytest.approx(probability, abs=1e-6)


@pytest.mark.parametrize("split", [{}, {"test_fraction": 1}])
def test_normalised_by_site_the_risks_are_those_that_were_scored_too(site, split):
    workload = make_workload(made_study(workload__normalisation="site"))
    network = workload.network().eval()
    data = workload.open_site(site_section(site / "stays.csv", split=split), cache=site)
    scored = {case.case: case.values["probability"] for case in data.score(network, "test").cases}
    predicted(site, network, workload, "stays.csv", split=split)
    risks = dict(pl.read_csv(site / "risks.csv").select("row", "risk").iter_rows())
    np.testing.assert_allclose([risks[case] for case in scored], list(scored.values()), atol=1e-6)


@pytest.mark.parametrize("file", ["asked.csv", "stays.csv", "link.csv"])
def test_a_table_is_never_overwritten(site, workload, file):
    (site / "link.csv").symlink_to(site / "stays.csv")
    before = (site / "stays.csv").read_bytes(), (site / "asked.csv").read_bytes()
    with pytest.raises(WardroundError, match="is the table itself") as raised:
        predicted(site, workload.network().eval(), workload, file=file)
    assert raised.value.code is Reason.CONFIGURATION_INVALID
    assert before == ((site / "stays.csv").read_bytes(), (site / "asked.csv").read_bytes())


def test_a_broken_network_writes_nothing(site, workload):
    network = workload.network().eval()
    with torch.no_grad():
        network.head.bias.fill_(float("nan"))
    with pytest.raises(WardroundError, match="no finite risk") as raised:
        predicted(site, network, workload)
    assert raised.value.code is Reason.NOT_FINITE
    assert not (site / "risks.csv").exists()


def test_a_row_that_cannot_be_read_keeps_its_place_without_a_risk(site, workload, caplog):
    asked = made_frame(2, patients=20).drop("readmitted")
    people = asked["person"].to_list()
    people[3] = ""
    asked.with_columns(person=pl.Series(people)).write_csv(site / "gaps.csv")
    figures = predicted(site, workload.network().eval(), workload, "gaps.csv")
    risks = pl.read_csv(site / "risks.csv")
    assert risks["number"].to_list() == list(range(1, len(asked) + 1))
    assert risks["risk"].is_null().arg_true().to_list() == [3]
    assert risks["row"][4] == asked["stay"][4]
    assert (figures["rows"], figures["without_risk"]) == (len(asked) - 1, 1)
    assert "no patient id" in caplog.text
