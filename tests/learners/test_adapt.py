"""Re-measuring: statistics alone change, everything else is put back."""

import pytest
import torch
from torch import nn

from support.fake_workload import FakeData, FakeWorkload, make_study
from wardround.learners.adapt import adapt_checkpoint, re_measure
from wardround.learners.checkpoint import make_checkpoint
from wardround.learners.fill import fill_network
from wardround.learners.make import make_learner
from wardround.records.reasons import Reason, WardroundError

CPU = torch.device("cpu")


def test_only_statistics_change_and_modes_come_back() -> None:
    network = FakeWorkload(dropout=0.9).network()
    network.train()
    network.drop.eval()
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    count = re_measure(network, FakeData(1).unlabelled(2, torch.Generator()), CPU)
    assert count == 3
    changed = {n for n, t in network.state_dict().items() if not torch.equal(t, before[n])}
    assert changed == {"norm.running_mean", "norm.running_var", "norm.num_batches_tracked"}
    assert network.norm.momentum == 0.1
    assert network.norm.training
    assert not network.drop.training


def test_dropout_is_off_while_measuring() -> None:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Dropout(0.9), nn.BatchNorm1d(1))
    re_measure(network, [torch.tensor([[1.0], [3.0]])], CPU)
    assert network[1].running_mean.item() == pytest.approx(2.0)


def test_momentum_and_modes_come_back_after_a_failure() -> None:
    network = FakeWorkload().network().eval()
    with pytest.raises(RuntimeError):
        re_measure(network, [torch.ones(1, 7, 3, 3)], CPU)
    assert network.norm.momentum == 0.1
    assert not network.norm.training


def test_nothing_to_measure_or_to_measure_on_is_an_error() -> None:
    with pytest.raises(WardroundError) as caught:
        re_measure(FakeWorkload(norm="none").network(), [torch.ones(1, 1, 8, 8)], CPU)
    assert caught.value.code is Reason.NOTHING_KEPT_LOCAL
    with pytest.raises(WardroundError) as caught:
        re_measure(FakeWorkload().network(), [], CPU)
    assert caught.value.code is Reason.TOO_FEW_CASES


@pytest.mark.parametrize("keep_local", ["batchnorm", "silobn"])
def test_a_checkpoint_without_a_sites_entries_becomes_complete(keep_local: str) -> None:
    training = {"rounds": 5, "local_steps": 1, "learning_rate": 0.1, "batch_size": 3}
    study = make_study(algorithm={"kind": "fedbn", "keep_local": keep_local}, training=training)
    workload, data = FakeWorkload(), FakeData(3, gain=2.0)
    learner = make_learner(workload, data, study, site="new", run="r")
    shared = learner.shared_entries()
    checkpoint = make_checkpoint(shared, study, model_round=5, workload=workload)
    with pytest.raises(WardroundError, match="wardround adapt") as caught:
        checkpoint.require_complete()
    assert caught.value.code is Reason.LOCAL_STATE_MISSING

    adapted = adapt_checkpoint(checkpoint, workload, data, site="new")
    adapted.require_complete()
    assert adapted.card.site == "new"
    assert adapted.card.notes == ("statistics_re_measured",)
    assert not checkpoint.card.complete

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FakeData, "has_unlabelled", False)
        notes = adapt_checkpoint(checkpoint, workload, data, site="new").card.notes
        assert notes == ("statistics_re_measured", "statistics_of_scored_cases")

    network = workload.network()
    fill_network(network, adapted.tensors)
    learner.load(shared, model_round=5)
    learner.score("test")  # the same as a learner does when it joins
    assert all(torch.equal(t, learner.network.state_dict()[n]) for n, t in network.state_dict().items())
