"""Training that is paused and continued gives the bits of training that was not."""

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
import torch

from support.fake_workload import FakeData, FakeWorkload, make_study
from wardround.learners.learner import Learner, Update
from wardround.learners.local_state import LocalState
from wardround.learners.make import make_learner
from wardround.learners.pausing import Paused, Pauses

STEPS = 7
SGD = {"rounds": 3, "local_steps": STEPS, "learning_rate": 0.05, "optimizer": "sgd", "clip_norm": 1.0}
ADAMW = {**SGD, "optimizer": "adamw", "schedule": "cosine"}


def _after(calls: int) -> Callable[[], bool]:
    """True from the call of this number on; training asks before each step."""
    counter = count()
    return lambda: next(counter) >= calls


def _learner(folder: Path, bad: set[int] | None = None, patients: int = 1, **study: object) -> Learner:
    data = FakeData(patients)
    data.bad = bad or set()
    state = LocalState(folder / "kept", {"run": "r"}) if study["algorithm"] != {"kind": "fedavg"} else None
    return make_learner(FakeWorkload(dropout=0.3), data, make_study(**study), site="a", run="r", state=state)


def _train(learner: Learner, shared: dict[str, torch.Tensor], pauses: Pauses | None = None, index: int = 0) -> Update:
    learner.load(shared, model_round=index)
    return learner.train(index, pauses)


def _same(one: Update, other: Update) -> None:
    assert one.difference.keys() == other.difference.keys()
    assert all(torch.equal(one.difference[name], other.difference[name]) for name in one.difference)
    assert _without_time(one) == _without_time(other)


def _without_time(update: Update) -> object:
    return update.report.model_copy(update={"seconds": {}})


@pytest.mark.parametrize("training", [SGD, ADAMW], ids=["sgd", "adamw"])
@pytest.mark.parametrize(
    "algorithm", [{"kind": "fedavg"}, {"kind": "fedprox_fedbn", "mu": 0.1}], ids=["fedavg", "fedprox_fedbn"]
)
@pytest.mark.parametrize("taken", [0, 3, STEPS - 1])
def test_a_round_paused_and_continued_by_another_process_is_the_same_to_the_bit(
    tmp_path: Path, training: dict[str, object], algorithm: dict[str, object], taken: int
) -> None:
    study = {"training": training, "algorithm": algorithm}
    whole = _learner(tmp_path / "whole", **study)
    shared = whole.shared_entries()
    expected = _train(whole, shared)

    folder = tmp_path / "paused"
    with pytest.raises(Paused, match=f"after {taken} of {STEPS} steps"):
        _train(_learner(tmp_path / "own", **study), shared, Pauses(folder, _after(taken)))
    assert [file.name for file in folder.iterdir()] == ["paused.safetensors"]
    other = _learner(tmp_path / "own", **study)  # as a new process has it
    torch.manual_seed(99)
    _same(_train(other, shared, Pauses(folder, lambda: False)), expected)
    own, other_own = whole.own_entries(), other.own_entries()
    assert all(torch.equal(own[name], other_own[name]) for name in own)
    assert not list(folder.iterdir())


def test_it_can_be_paused_at_every_step_and_with_losses_that_are_not_finite(tmp_path: Path) -> None:
    study = {"training": ADAMW, "algorithm": {"kind": "fedbn"}}
    bad = {2, 5, 6}
    whole = _learner(tmp_path / "whole", bad, **study)
    shared = whole.shared_entries()
    expected = _train(whole, shared)
    assert expected.report.skipped_steps == 3
    pauses = 0
    while True:
        try:
            learner = _learner(tmp_path / "own", bad, **study)
            update = _train(learner, shared, Pauses(tmp_path / "paused", _after(1)))
            break
        except Paused:
            pauses += 1
    assert pauses == STEPS - 1
    _same(update, expected)


def _paused(folder: Path, study: dict[str, object]) -> dict[str, torch.Tensor]:
    learner = _learner(folder / "own", **study)
    shared = learner.shared_entries()
    with pytest.raises(Paused):
        _train(learner, shared, Pauses(folder / "paused", _after(3)))
    return shared


@pytest.mark.parametrize("unlike", ["weights", "round", "study", "patients"])
def test_what_another_round_or_other_patients_left_is_removed_and_not_used(tmp_path: Path, unlike: str) -> None:
    study: dict[str, object] = {"training": ADAMW, "algorithm": {"kind": "fedavg"}}
    shared, index, patients = _paused(tmp_path, study), 0, 1
    if unlike == "weights":
        shared = {name: tensor + 1e-6 for name, tensor in shared.items()}
    elif unlike == "round":
        index = 1
    elif unlike == "patients":
        patients = 2  # as many
    else:
        study = {**study, "training": {**ADAMW, "learning_rate": 0.04}}
    expected = _train(_learner(tmp_path / "whole", patients=patients, **study), shared, index=index)
    seen = []
    folder = tmp_path / "paused"

    def look() -> bool:
        seen.append(list(folder.iterdir()))
        return False

    learner = _learner(tmp_path / "own", patients=patients, **study)
    _same(_train(learner, shared, Pauses(folder, look), index), expected)
    assert len(seen) == STEPS
    assert not seen[0]


@pytest.mark.parametrize("keep", [0, 100, -1])
def test_a_file_that_is_cut_short_costs_only_what_was_trained(tmp_path: Path, keep: int) -> None:
    study: dict[str, object] = {"training": ADAMW, "algorithm": {"kind": "fedavg"}}
    shared = _paused(tmp_path, study)
    file = tmp_path / "paused" / "paused.safetensors"
    file.write_bytes(file.read_bytes()[:keep])
    expected = _train(_learner(tmp_path / "whole", **study), shared)
    _same(_train(_learner(tmp_path / "own", **study), shared, Pauses(file.parent, lambda: False)), expected)


def test_the_time_before_a_pause_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = count()
    for module in ("pausing", "learner"):
        monkeypatch.setattr(f"wardround.learners.{module}.perf_counter", lambda: float(next(ticks)) * 1000)
    study: dict[str, object] = {"training": SGD, "algorithm": {"kind": "fedavg"}}
    shared = _paused(tmp_path, study)
    update = _train(_learner(tmp_path / "own", **study), shared, Pauses(tmp_path / "paused", lambda: False))
    assert update.report.seconds["train"] > 2000


def test_a_pause_that_cannot_be_written_is_no_pause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **_options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("wardround.learners.paused_round.write_whole", full)
    learner = _learner(tmp_path / "own", training=SGD, algorithm={"kind": "fedavg"})
    with pytest.raises(OSError, match="No space left"):
        _train(learner, learner.shared_entries(), Pauses(tmp_path / "paused", _after(2)))
