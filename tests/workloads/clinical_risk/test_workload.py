import copy

import pytest
import torch
import yaml
from sklearn.linear_model import LogisticRegression

from support.made_tables import CONTRACT, WORKLOAD, made_frame, made_study, site_section
from wardround.records.reasons import Reason, WardroundError
from wardround.site.config import load_site_config
from wardround.site.open_site import open_site
from wardround.workloads.registry import make_workload, workload_of


@pytest.fixture
def table(tmp_path):
    made_frame(1).write_csv(tmp_path / "stays.csv")
    return site_section(tmp_path / "stays.csv")


def changed(**changes):
    return workload_of({**copy.deepcopy(WORKLOAD), **changes})


def test_the_initial_network_is_the_same_wherever_it_is_built():
    states = []
    for _ in range(2):
        torch.manual_seed(3)
        states.append(make_workload(made_study()).network().state_dict())
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])


def test_the_sums_of_sites_standardise_the_network(tmp_path, table):
    workload = make_workload(made_study())
    data = workload.open_site(table, cache=tmp_path)
    network = workload.network()
    network.load_state_dict(workload.initial_entries(data.statistics()), strict=False)
    numbers = network.standardise(data.rows("train").inputs)[:, :2]
    assert numbers.std(0, correction=0).tolist()[0] == pytest.approx(1, abs=1e-4)
    assert numbers.mean(0).tolist() == pytest.approx([0, 0], abs=1e-4)
    assert numbers.isfinite().all()


def test_the_head_is_the_last_layer():
    workload = make_workload(made_study())
    assert workload.head(workload.network()) == ("head.weight", "head.bias")


def test_logistic_regression_has_no_head_to_keep():
    workload = changed(network={"hidden": []})
    with pytest.raises(WardroundError, match="nothing would be shared") as raised:
        workload.head(workload.network())
    assert raised.value.code is Reason.NOTHING_KEPT_LOCAL


def test_the_digest_tells_contracts_and_normalisations_apart():
    contract = copy.deepcopy(CONTRACT)
    contract["columns"]["age"]["range"] = [0, 110]
    digests = {changed().contract_digest(), changed(normalisation="site").contract_digest()}
    digests.add(changed(contract=contract).contract_digest())
    assert len(digests) == 3
    assert changed(network={"hidden": [3]}).contract_digest() in digests


def test_the_reference_gives_the_probabilities_of_scikit_learn(tmp_path, table):
    workload = make_workload(made_study())
    data = workload.open_site(table, cache=tmp_path)
    network = workload.reference(data)
    rows = data.rows("train")
    inputs = network.standardise(rows.inputs).double().numpy()
    expected = LogisticRegression(max_iter=1000).fit(inputs, rows.targets[:, 0]).predict_proba(inputs)[:, 1]
    torch.testing.assert_close(
        network(rows.inputs).sigmoid()[:, 0].double(), torch.from_numpy(expected), atol=1e-5, rtol=0
    )


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"network": {"hiden": [3]}}, "hiden"),
        ({"split": {"validation_fraction": 0.5, "test_fraction": 0.5}}, "leave nothing to train on"),
        ({"normalisation": "global"}, "normalisation"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings, told):
    with pytest.raises(WardroundError, match=told) as raised:
        changed(**settings)
    assert raised.value.code is Reason.CONFIGURATION_INVALID


def test_a_hospital_with_another_contract_does_not_take_part(tmp_path, table):
    workload = make_workload(made_study())
    (tmp_path / "agreed.yaml").write_text(yaml.safe_dump(CONTRACT, sort_keys=False))
    agreed = {**table, "contract_file": tmp_path / "agreed.yaml"}
    assert workload.open_site(agreed, cache=tmp_path).counts["train_cases"]
    other = {**CONTRACT, "outcome": {**CONTRACT["outcome"], "horizon_days": 90}}
    (tmp_path / "agreed.yaml").write_text(yaml.safe_dump(other, sort_keys=False))
    with pytest.raises(WardroundError, match="another contract than the study's") as raised:
        workload.open_site(agreed, cache=tmp_path)
    assert raised.value.code is Reason.CONTRACT_MISMATCH


def test_a_section_that_does_not_fit_is_refused(tmp_path, table):
    with pytest.raises(WardroundError, match=r"data\.clinical_risk: outcom"):
        make_workload(made_study()).open_site({**table, "outcom": {}}, cache=tmp_path)


@pytest.mark.parametrize("key", ["clinical_risk", "readmission_30"])
def test_a_fault_is_told_under_the_key_that_the_section_has(tmp_path, table, key):
    study = made_study().model_copy(update={"name": "readmission_30"})
    settings = {"name": "a", "data": {key: {**table, "outcom": {}}}}
    (tmp_path / "site.yaml").write_text(yaml.safe_dump(settings))
    with pytest.raises(WardroundError, match=rf"site\.yaml: data\.{key}: outcom: unknown key"):
        open_site(study, load_site_config(tmp_path / "site.yaml"))


def test_differences_are_of_figures_over_the_same_rows(tmp_path, table):
    workload = make_workload(made_study())
    data = workload.open_site(table, cache=tmp_path)
    good, fresh = (data.score(network, "test") for network in (workload.reference(data), workload.network()))
    records = {record.name: record for record in workload.differences(good.cases, fresh.cases[::-1], seed=0)}
    values = [{record.name: record.value for record in scores.records} for scores in (good, fresh)]
    for name in workload.metric_names():
        low, high = records[name].interval
        assert records[name].value == pytest.approx(values[0][name] - values[1][name])
        assert low <= records[name].value <= high
    assert records["log_loss"].interval[1] < 0
    assert set(records) == {*workload.metric_names(), "accuracy"}
    with pytest.raises(WardroundError, match="the same rows"):
        workload.differences(good.cases, fresh.cases[1:], seed=0)
