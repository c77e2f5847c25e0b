"""Local head: the last layer stays, and where a site has none for a model, nothing is scored with a random one."""

import pytest
import torch
from torch import nn

from support.fake_workload import FakeData, FakeWorkload, make_study
from wardround.learners.adapt import adapt_checkpoint
from wardround.learners.checkpoint import make_checkpoint
from wardround.learners.initial import initial_shared_entries
from wardround.learners.learner import Learner
from wardround.learners.make import make_learner
from wardround.learners.sharing import KeepHead
from wardround.records.metric_record import Status
from wardround.records.reasons import Reason, WardroundError

STUDY = make_study(algorithm={"kind": "local_head"})
HEAD = {"last.weight", "last.bias"}


def learner(seed: int = 1) -> Learner:
    return make_learner(FakeWorkload(), FakeData(seed), STUDY, site=f"s{seed}", run="r")


def test_the_head_trains_and_never_leaves() -> None:
    site = learner()
    shared = initial_shared_entries(FakeWorkload(), STUDY)
    before = {name: tensor.clone() for name, tensor in site.own_entries().items()}
    site.load(shared, model_round=0)
    update = site.train(0)
    assert set(update.difference) == set(shared)
    assert not HEAD & set(shared)
    assert set(site.kept_names) == HEAD
    assert not torch.equal(site.own_entries()["last.weight"], before["last.weight"])


def test_a_site_scores_with_its_own_head_of_the_round_that_counted() -> None:
    site = learner()
    shared = site.shared_entries()
    site.load(shared, model_round=0)
    site.train(0)
    own = site.own_entries()["last.weight"]
    site.acknowledge(0)
    site.load(shared, model_round=1)
    assert torch.equal(site.network.last.weight.detach(), own)
    assert site.validate().records[0].value is not None
    assert site.notes == ()


def test_without_a_head_of_its_own_every_figure_is_undefined() -> None:
    site = learner()
    site.load(site.shared_entries(), model_round=2)
    scores = site.score("test", detail=True)
    assert [record.name for record in scores.records] == ["accuracy", "balance"]
    assert {(record.status, record.reason) for record in scores.records} == {(Status.UNDEFINED, "no_head_of_its_own")}
    assert scores.cases == []
    assert site.notes == ("no_head_of_its_own",)
    checkpoint = make_checkpoint(
        {**site.shared_entries(), **site.own_entries()}, STUDY, model_round=2, workload=FakeWorkload(), site="s1"
    )
    assert not checkpoint.card.complete
    with pytest.raises(WardroundError, match="keeps in its state folder"):
        checkpoint.require_complete()
    assert site.recalibrate() is site.network


def test_the_initial_model_is_every_sites_own() -> None:
    site = learner()
    site.load(site.shared_entries(), model_round=0)
    assert site.validate().records[0].value is not None


def test_a_newcomer_trains_from_the_initial_head() -> None:
    site = learner()
    site.load(site.shared_entries(), model_round=2)
    site.train(2)
    site.acknowledge(2)
    site.load(site.shared_entries(), model_round=3)
    assert site.validate().records[0].value is not None


def test_adapting_is_refused_with_what_to_do() -> None:
    checkpoint = make_checkpoint(learner().shared_entries(), STUDY, model_round=2, workload=FakeWorkload())
    with pytest.raises(WardroundError, match="let this hospital train") as caught:
        adapt_checkpoint(checkpoint, FakeWorkload(), FakeData(1), site="s1")
    assert caught.value.code is Reason.LOCAL_STATE_MISSING


@pytest.mark.parametrize("head", [(), ("0.weight", "0.bias", "1.weight", "1.bias"), ("head.weight",)])
def test_a_head_that_is_nothing_all_or_elsewhere_is_refused(head: tuple[str, ...]) -> None:
    network = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    with pytest.raises(WardroundError) as caught:
        KeepHead(lambda _network: head).kept(network)
    assert caught.value.code is Reason.NOTHING_KEPT_LOCAL
