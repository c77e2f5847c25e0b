"""The learners, which know of no workload, on this one."""

import pytest
import torch

from support.made_tables import made_frame, made_study, site_section
from wardround.learners.checkpoint import load_checkpoint, make_checkpoint, save_checkpoint
from wardround.learners.initial import initial_shared_entries
from wardround.learners.make import make_learner
from wardround.learners.predict import network_of
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.registry import make_workload


@pytest.fixture
def learner(tmp_path):
    made_frame(1, patients=300).write_csv(tmp_path / "stays.csv")

    def make(**changes):
        study = made_study(**changes)
        workload = make_workload(study)
        data = workload.open_site(site_section(tmp_path / "stays.csv"), cache=tmp_path)
        made = make_learner(workload, data, study, site="a", run="run")
        made.load(initial_shared_entries(workload, study, data.statistics()), model_round=0)
        return made

    return make


@pytest.mark.parametrize(
    ("algorithm", "kept"),
    [
        ({"kind": "fedavg"}, ()),
        ({"kind": "fedprox", "mu": 0.1}, ()),
        ({"kind": "fedbn"}, ("backbone.1.", "backbone.5.")),
        ({"kind": "fedprox_fedbn", "mu": 0.1}, ("backbone.1.", "backbone.5.")),
        ({"kind": "local_head"}, ("head.",)),
    ],
)
def test_each_algorithm_trains_and_leaves_the_normalisation_alone(learner, algorithm, kept):
    made = learner(algorithm=algorithm)
    assert {name.rsplit(".", 1)[0] + "." for name in made.kept_names} == set(kept)
    before = next(r.value for r in made.validate().records if r.name == "log_loss")
    update = made.train(0)
    assert next(r.value for r in made.validate().records if r.name == "log_loss") < before
    assert not update.difference["standardise.mean"].any()
    assert not update.difference["standardise.scale"].any()
    assert update.report.moved > 0


def test_fedbn_is_refused_without_batchnorm(learner):
    with pytest.raises(WardroundError, match="no BatchNorm entries") as raised:
        learner(algorithm={"kind": "fedbn"}, workload__network={"hidden": [4], "norm": "none"})
    assert raised.value.code is Reason.NOTHING_KEPT_LOCAL


def test_a_round_repeats_bit_for_bit(learner):
    one, other = (learner().train(0).difference for _ in range(2))
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_a_checkpoint_predicts_what_the_model_did(learner, tmp_path):
    made = learner()
    made.train(0)
    tensors = {**made.shared_entries(), **made.own_entries()}
    save_checkpoint(tmp_path / "model", make_checkpoint(tensors, made.study, model_round=1))
    _, network = network_of(load_checkpoint(tmp_path / "model"))
    inputs = made.data.rows("test").inputs
    assert torch.equal(network(inputs), made.network.eval()(inputs))
    assert network(inputs).isfinite().all()
