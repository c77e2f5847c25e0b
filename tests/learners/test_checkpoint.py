"""Checkpoints: come back as written, are tied to their card, and are whole or absent."""

import json
from pathlib import Path

import pytest
import torch
from torch import nn

from support.fake_workload import FakeData, FakeWorkload, make_study
from wardround.learners.checkpoint import load_checkpoint, make_checkpoint, save_checkpoint, weights_sha256
from wardround.learners.fill import all_entries, fill_network
from wardround.learners.make import make_learner
from wardround.records.reasons import Reason, WardroundError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    study = make_study()
    checkpoint = make_checkpoint(all_entries(FakeWorkload().network()), study, model_round=3, workload=FakeWorkload())
    return save_checkpoint(tmp_path / "models" / "best", checkpoint)


def test_it_comes_back_as_written(file: Path) -> None:
    assert sorted(f.name for f in file.parent.iterdir()) == ["best.json", "best.safetensors"]
    for name in ("best.safetensors", "best.json", "best"):
        loaded = load_checkpoint(file.parent / name)
        loaded.require_complete()
        assert loaded.card.model_round == 3
        assert loaded.card.entries["first.weight"] == ["float32", 4, 1, 3, 3]
        assert loaded.card.key_metric == ("accuracy", "max")
        network = FakeWorkload().network()
        fill_network(network, loaded.tensors)
        assert weights_sha256(all_entries(network)) == loaded.card.weights_sha256


def test_a_site_name_with_dots_keeps_its_name(tmp_path: Path) -> None:
    checkpoint = make_checkpoint({"w": torch.ones(1)}, make_study(), model_round=0, workload=FakeWorkload())
    assert save_checkpoint(tmp_path / "site-1.5", checkpoint).name == "site-1.5.safetensors"
    assert load_checkpoint(tmp_path / "site-1.5").card.model_round == 0


def test_a_missing_or_broken_file_is_told(file: Path) -> None:
    with pytest.raises(WardroundError, match="missing") as caught:
        load_checkpoint(file.parent / "last")
    assert caught.value.code is Reason.DATA_MISSING
    file.write_bytes(file.read_bytes()[:-50])
    with pytest.raises(WardroundError, match="not a readable checkpoint") as caught:
        load_checkpoint(file)
    assert caught.value.code is Reason.DATA_UNREADABLE


def test_tensors_of_another_model_are_refused(file: Path) -> None:
    study = make_study()
    torch.manual_seed(1)
    other = make_checkpoint(all_entries(FakeWorkload().network()), study, model_round=3, workload=FakeWorkload())
    save_checkpoint(file.parent / "other", other)
    file.write_bytes((file.parent / "other.safetensors").read_bytes())
    with pytest.raises(WardroundError, match="copy both files together"):
        load_checkpoint(file)


def test_an_unknown_key_in_the_card_is_told(file: Path) -> None:
    card = file.with_suffix(".json")
    card.write_text(json.dumps({**json.loads(card.read_text()), "extra": 1}))
    with pytest.raises(WardroundError, match="extra"):
        load_checkpoint(file)


def test_a_shared_fedbn_model_is_incomplete_and_a_sites_is_not() -> None:
    study = make_study(algorithm={"kind": "fedbn"})
    learner = make_learner(FakeWorkload(), FakeData(1), study, site="a", run="r")
    shared = learner.shared_entries()
    assert not make_checkpoint(shared, study, model_round=1, workload=FakeWorkload()).card.complete
    whole = make_checkpoint(
        {**shared, **learner.own_entries()}, study, model_round=1, workload=FakeWorkload(), site="a"
    )
    whole.require_complete()
    assert whole.card.kept_local == learner.kept_names


def test_filling_tells_what_does_not_fit() -> None:
    whole = all_entries(FakeWorkload().network())
    network = FakeWorkload().network()
    fill_network(network, {n: t for n, t in whole.items() if "num_batches" not in n})  # counters may be missing
    with pytest.raises(WardroundError, match=r"norm\.weight"):
        fill_network(network, {n: t for n, t in whole.items() if n != "norm.weight"})
    with pytest.raises(WardroundError, match="unknown"):
        fill_network(network, {**whole, "x": torch.ones(1)})
    with pytest.raises(WardroundError) as caught:
        fill_network(network, {**whole, "last.bias": torch.ones(2)})
    assert caught.value.code is Reason.SHAPE_MISMATCH


def test_an_alias_crosses_and_fills_once() -> None:
    def aliased() -> nn.Module:
        network = nn.Module()
        network.block = nn.Linear(2, 2)
        network.again = network.block
        return network

    one, other = aliased(), aliased()
    entries = all_entries(one)
    assert set(entries) == {"block.weight", "block.bias"}
    fill_network(other, entries)
    assert torch.equal(other.again.weight, one.block.weight)


def test_the_hash_follows_every_bit_and_not_the_order() -> None:
    weights = {"a": torch.ones(3), "b": torch.tensor(2)}
    assert weights_sha256(weights) == weights_sha256(dict(reversed(weights.items())))
    changed = {**weights, "a": torch.tensor([1.0, 1.0, 1.0 + 2**-23])}
    renamed = {"c": weights["a"], "b": weights["b"]}
    reshaped = {**weights, "a": torch.ones(3, 1)}
    assert len({weights_sha256(w) for w in (weights, changed, renamed, reshaped)}) == 4


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_are_refused(tmp_path: Path, value: float) -> None:
    tensors = {"w": torch.ones(2), "x": torch.tensor([1.0, value]), "count": torch.tensor(3)}
    broken = make_checkpoint(tensors, make_study(), model_round=1, workload=FakeWorkload())
    with pytest.raises(WardroundError, match=r"1 entries hold NaN or infinity \(such as x\)") as raised:
        load_checkpoint(save_checkpoint(tmp_path / "broken", broken))
    assert raised.value.code is Reason.NOT_FINITE


@pytest.mark.parametrize(
    "change",
    [{"model_round": 4}, {"site": "hospital-b"}, {"workload": {"kind": "fake", "sequences": ["t2f", "t1n"]}}],
)
def test_a_card_that_was_edited_is_refused(file: Path, change: dict) -> None:
    card = file.with_suffix(".json")
    settings = json.loads(card.read_text())
    card.write_text(json.dumps(settings))  # laid out otherwise, it says the same
    load_checkpoint(file)
    card.write_text(json.dumps({**settings, **change}))
    with pytest.raises(WardroundError, match="not as it was written") as raised:
        load_checkpoint(file)
    assert raised.value.code is Reason.DATA_UNREADABLE


@pytest.mark.parametrize(("change", "told"), [({"complete": False}, "kept_local"), ({"workload": {}}, "workload.kind")])
def test_a_card_that_contradicts_itself_is_told_by_its_key(file: Path, change: dict, told: str) -> None:
    card = file.with_suffix(".json")
    card.write_text(json.dumps({**json.loads(card.read_text()), **change}))
    with pytest.raises(WardroundError, match=told):
        load_checkpoint(file)
