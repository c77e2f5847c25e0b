"""The learner's rounds: what leaves, what repeats, what is skipped, what is told."""

import math

import pytest
import torch

from support.fake_workload import FakeData, FakeWorkload, make_study
from wardround.aggregation.gate import check_update
from wardround.learners.initial import initial_network
from wardround.learners.learner import Learner
from wardround.learners.make import LEARNERS, make_learner
from wardround.learners.optimizer import learning_rate
from wardround.records.metric_record import value_of
from wardround.records.reasons import Reason, WardroundError

ALGORITHMS = [
    {"kind": "fedavg"},
    {"kind": "fedprox", "mu": 0.1},
    {"kind": "fedbn"},
    {"kind": "fedbn", "keep_local": "silobn"},
    {"kind": "fedprox_fedbn", "mu": 0.1},
]


def learner(data: FakeData | None = None, workload: FakeWorkload | None = None, **changes: object) -> Learner:
    return make_learner(workload or FakeWorkload(), data or FakeData(1), make_study(**changes), site="a", run="r")


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda a: f"{a['kind']}-{a.get('keep_local', '')}")
def test_what_leaves_is_what_the_manifest_says(algorithm: dict[str, object]) -> None:
    site = learner(algorithm=algorithm)
    assert type(site) is LEARNERS[str(algorithm["kind"])]
    manifest = site.manifest("train")
    before = site.shared_entries()
    site.load(before, model_round=0)
    update = site.train(0)

    expected = {name: (str(dtype), tuple(shape)) for name, (dtype, *shape) in manifest.shared.items()}
    assert check_update(update.difference, update.report.patients, expected, declared=6) is None
    assert not set(update.difference) & set(manifest.kept_local)
    assert not any("num_batches" in name for name in update.difference)
    after = site.shared_entries()
    for name, difference in update.difference.items():
        assert difference.dtype is torch.float32
        torch.testing.assert_close(before[name] + difference, after[name])
    trainable = [n for n in update.difference if "running" not in n]
    assert update.report.moved == pytest.approx(
        math.sqrt(sum(float(update.difference[n].square().sum()) for n in trainable)), rel=1e-5
    )
    mu = site.study.algorithm.mu
    assert update.report.proximal_pull == pytest.approx(mu / 2 * update.report.moved**2, rel=1e-4)
    assert (update.report.proximal_gradient_norm > 0) == (mu > 0)
    assert update.report.gradient_norm is not None
    assert update.report.gradient_norm > 0
    assert (update.report.steps, update.report.skipped_steps) == (4, 0)


def test_the_manifest_says_what_the_site_has() -> None:
    manifest = learner(algorithm={"kind": "fedbn"}).manifest("evaluate")
    assert (manifest.site, manifest.role) == ("a", "evaluate")
    assert manifest.counts["train_patients"] == 6
    assert manifest.problems == {"data_unreadable": 1}
    assert manifest.shared["first.weight"] == ["float32", 4, 1, 3, 3]
    assert len(manifest.kept_local) == 5
    assert learner().manifest("train").kept_local == ()


def test_what_stays_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"):
        learner(algorithm={"kind": "fedbn"})
    assert "norm.running_var" in caplog.text


def test_a_setting_that_does_nothing_here_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    learner(training={"rounds": 1, "local_steps": 9, "learning_rate": 0.1, "mixed_precision": True})
    assert "mixed_precision does nothing on cpu" in caplog.text


def test_fedbn_on_a_network_without_batchnorm_fails_at_once() -> None:
    with pytest.raises(WardroundError) as caught:
        learner(workload=FakeWorkload(norm="none"), algorithm={"kind": "fedbn"})
    assert caught.value.code is Reason.NOTHING_KEPT_LOCAL


def test_an_unknown_key_metric_fails_at_once() -> None:
    with pytest.raises(WardroundError, match="accuracy") as caught:
        learner(evaluation={"key_metric": "dice_mean"})
    assert caught.value.code is Reason.METRIC_UNKNOWN


def _one_round(site: Learner, shared: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    site.load(shared, model_round=0)
    return site.train(0).difference


def test_the_same_inputs_give_the_same_bits_whatever_ran_before() -> None:
    workload = FakeWorkload(dropout=0.5)
    site = learner(workload=workload)
    shared = site.shared_entries()
    first = _one_round(site, shared)

    torch.manual_seed(99)
    state = torch.random.get_rng_state()
    other = learner(workload=workload)
    other.load(shared, model_round=0)
    other.validate()
    again = other.train(0).difference
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert torch.equal(state, torch.random.get_rng_state())
    assert all(torch.equal(first[name], value) for name, value in _one_round(site, shared).items())


def test_site_round_and_seed_each_change_the_update() -> None:
    site = learner()
    shared = site.shared_entries()
    first = _one_round(site, shared)["last.weight"]
    other_site = make_learner(FakeWorkload(), FakeData(1), make_study(), site="b", run="r")
    assert not torch.equal(first, _one_round(other_site, shared)["last.weight"])
    assert not torch.equal(first, _one_round(learner(seed=5), shared)["last.weight"])
    constant = learner(training={"rounds": 3, "local_steps": 4, "learning_rate": 0.05, "schedule": "constant"})
    constant.load(shared, model_round=1)
    assert not torch.equal(first, constant.train(1).difference["last.weight"])


def test_all_sites_and_the_server_start_from_one_network() -> None:
    network = initial_network(FakeWorkload(), make_study(seed=4))
    site = learner(seed=4)
    assert all(torch.equal(t, site.network.state_dict()[n]) for n, t in network.state_dict().items())
    assert not torch.equal(network.first.weight, learner(seed=5).network.first.weight)


def test_a_model_of_another_shape_or_round_is_refused() -> None:
    site = learner()
    shared = site.shared_entries()
    with pytest.raises(WardroundError) as caught:
        site.load({**shared, "extra": torch.ones(1)}, model_round=0)
    assert caught.value.code is Reason.NAMES_MISMATCH
    with pytest.raises(WardroundError) as caught:
        site.load({**shared, "last.bias": torch.ones(2)}, model_round=0)
    assert caught.value.code is Reason.SHAPE_MISMATCH
    site.load(shared, model_round=1)
    with pytest.raises(WardroundError, match="round 0"):
        site.train(0)


def test_loading_does_not_keep_hold_of_what_was_given() -> None:
    site = learner()
    shared = site.shared_entries()
    site.load(shared, model_round=0)
    given = shared["last.bias"].clone()
    site.train(0)
    assert torch.equal(shared["last.bias"], given)


def test_local_epochs_visit_each_case_once() -> None:
    site = learner(training={"rounds": 1, "local_epochs": 2, "learning_rate": 0.01, "batch_size": 4})
    site.load(site.shared_entries(), model_round=0)
    assert site.train(0).report.steps == 4  # 6 cases in batches of 4, twice


def test_a_bad_loss_leaves_no_trace_but_a_count() -> None:
    """Steps 2 and 3 are skipped: weights and running statistics stay finite."""
    data = FakeData(1)
    data.bad = {2, 3}
    site = learner(data, training={"rounds": 1, "local_steps": 4, "learning_rate": 0.05, "bad_steps_limit": 3})
    site.load(site.shared_entries(), model_round=0)
    report = site.train(0).report
    assert (report.steps, report.skipped_steps) == (2, 2)
    assert report.loss is not None
    assert math.isfinite(report.loss)
    assert all(torch.isfinite(t).all() for t in site.network.state_dict().values())
    assert site.network.norm.num_batches_tracked == 2


def test_bad_losses_in_a_row_end_the_round() -> None:
    data = FakeData(1)
    data.bad = {2, 3, 4}
    site = learner(data, training={"rounds": 1, "local_steps": 9, "learning_rate": 0.05, "bad_steps_limit": 3})
    site.load(site.shared_entries(), model_round=0)
    with pytest.raises(WardroundError, match="3 losses in a row") as caught:
        site.train(0)
    assert caught.value.code is Reason.LOSS_NOT_FINITE


def test_a_round_without_a_single_step_is_no_contribution() -> None:
    """The limit of losses in a row is never reached: the round is shorter."""
    data = FakeData(1)
    data.bad = {1, 2, 3}
    site = learner(data, training={"rounds": 1, "local_steps": 3, "learning_rate": 0.05, "bad_steps_limit": 5})
    site.load(site.shared_entries(), model_round=0)
    with pytest.raises(WardroundError, match="none of 3 steps") as caught:
        site.train(0)
    assert caught.value.code is Reason.LOSS_NOT_FINITE


def test_weights_that_a_last_step_blew_up_do_not_leave() -> None:
    training = {"rounds": 1, "local_steps": 2, "learning_rate": 1e38, "optimizer": "sgd", "weight_decay": 1e10}
    site = learner(training=training)
    site.load(site.shared_entries(), model_round=0)
    with pytest.raises(WardroundError) as caught:
        site.train(0)
    assert caught.value.code is Reason.LOSS_NOT_FINITE


def test_clipping_bounds_a_step() -> None:
    training = {"rounds": 1, "local_steps": 1, "learning_rate": 1.0, "optimizer": "sgd", "clip_norm": 0.01}
    site = learner(training=training)
    site.load(site.shared_entries(), model_round=0)
    report = site.train(0).report
    assert report.gradient_norm is not None
    assert report.gradient_norm > 0.01
    assert report.moved == pytest.approx(0.01, rel=1e-3)


def test_the_rate_follows_the_cosine_over_rounds() -> None:
    training = make_study(training={"rounds": 4, "local_steps": 1, "learning_rate": 2.0}).training
    exact = [2.0 * (0.1 + 0.9 * (1 + math.cos(math.pi * r / 4)) / 2) for r in range(5)]
    assert [learning_rate(training, r) for r in range(5)] == pytest.approx(exact)
    assert learning_rate(training, 9) == pytest.approx(0.2)


@pytest.mark.parametrize(("optimizer", "rate"), [("adamw", 0.1), ("sgd", 1.0)])
def test_it_learns(optimizer: str, rate: float) -> None:
    site = learner(training={"rounds": 1, "local_steps": 60, "learning_rate": rate, "optimizer": optimizer})
    site.load(site.shared_entries(), model_round=0)
    before = value_of(site.validate().records, "accuracy")
    site.train(0)
    after = value_of(site.validate().records, "accuracy")
    assert before is not None
    assert after is not None
    assert after > max(before, 0.8)
