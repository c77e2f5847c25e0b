"""FedBN over rounds: entries stay, are scored with, and are re-measured where a site has none."""

import pytest
import torch

from support.fake_workload import FakeData, FakeWorkload, make_study
from wardround.learners.learner import Learner
from wardround.learners.make import make_learner

FEDBN = {"kind": "fedbn"}


def learner(kind: str = "batchnorm", data: FakeData | None = None) -> Learner:
    study = make_study(algorithm={"kind": "fedbn", "keep_local": kind})
    return make_learner(FakeWorkload(), data or FakeData(1), study, site="a", run="r")


def norm(site: Learner) -> dict[str, torch.Tensor]:
    return {name: tensor.detach().clone() for name, tensor in site.network.norm.state_dict().items()}


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(one[name], other[name]) for name in one)


def test_own_entries_go_on_from_round_to_round() -> None:
    site = learner()
    shared = site.shared_entries()
    initial = norm(site)
    site.load(shared, model_round=0)
    site.train(0)
    trained = norm(site)
    assert not same(trained, initial)
    site.acknowledge(0)
    site.load(shared, model_round=1)
    assert same(norm(site), trained)
    site.validate()
    assert site.notes == ()
    assert same(norm(site), trained)


def test_a_round_that_did_not_count_leaves_the_entries_before_it() -> None:
    site = learner()
    shared = site.shared_entries()
    site.load(shared, model_round=0)
    site.train(0)
    trained = norm(site)
    site.acknowledge(0)
    site.load(shared, model_round=1)
    site.train(1)
    site.acknowledge(0)  # the server's last accepted round of this site is still 0
    site.load(shared, model_round=2)
    assert same(norm(site), trained)


def test_an_older_model_is_scored_with_its_own_rounds_entries() -> None:
    site = learner()
    shared = site.shared_entries()
    by_round = {}
    for index in range(3):
        site.load(shared, model_round=index)
        site.train(index)
        by_round[index + 1] = norm(site)
        site.acknowledge(index)
    for model_round, entries in by_round.items():
        site.load(shared, model_round=model_round)
        assert same(norm(site), entries)


def test_the_initial_models_entries_are_its_own() -> None:
    site = learner()
    site.load(site.shared_entries(), model_round=0)
    site.validate()
    assert site.notes == ()


@pytest.mark.parametrize("kind", ["batchnorm", "silobn"])
def test_a_site_without_entries_re_measures_and_says_so(kind: str) -> None:
    site = learner(kind, FakeData(1, gain=3.0, offset=2.0))
    shared = site.shared_entries()
    if kind == "silobn":
        shared["norm.weight"] = torch.tensor([1.0, 2.0, 3.0, 4.0])
    site.load(shared, model_round=2)
    site.score("test")
    assert site.notes == ("statistics_re_measured",)
    entries = norm(site)
    inputs = site.data.splits["train"][0]  # type: ignore[attr-defined]
    features = site.network.first(inputs).detach()  # six cases in three equal batches
    torch.testing.assert_close(entries["running_mean"], features.mean((0, 2, 3)))
    within = torch.stack([part.var((0, 2, 3)) for part in features.split(2)]).mean(0)
    torch.testing.assert_close(entries["running_var"], within)
    affine = [1.0, 2.0, 3.0, 4.0] if kind == "silobn" else [1.0] * 4
    assert entries["weight"].tolist() == affine


def test_training_does_not_depend_on_whether_the_model_was_scored_first() -> None:
    updates = []
    for score_first in (False, True):
        site = learner()
        site.load(site.shared_entries(), model_round=1)  # nothing acknowledged: re-measured either way
        if score_first:
            site.validate()
        updates.append({**site.train(1).difference, **norm(site)})
    assert same(*updates)


def test_re_measuring_helps_a_site_with_another_scanner() -> None:
    study = make_study(
        algorithm={"kind": "fedbn", "keep_local": "silobn"},
        training={"rounds": 1, "local_steps": 80, "learning_rate": 0.1},
    )
    trained = make_learner(FakeWorkload(), FakeData(1), study, site="a", run="r")
    trained.load(trained.shared_entries(), model_round=0)
    trained.train(0)
    newcomer = make_learner(FakeWorkload(), FakeData(2, gain=5.0, offset=-10.0), study, site="b", run="r")
    newcomer.load(trained.shared_entries(), model_round=0)  # as if of the initial model: statistics 0 and 1
    untouched = newcomer.score("test").records[0].value
    newcomer.load(trained.shared_entries(), model_round=1)
    measured = newcomer.score("test").records[0].value
    assert untouched is not None
    assert measured is not None
    assert measured > untouched + 0.1
