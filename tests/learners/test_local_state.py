"""Kept entries: committed on acknowledgement alone, by round, of one owner, across restarts."""

from pathlib import Path

import pytest
import torch

from wardround.learners.local_state import KeptEntries, LocalState
from wardround.records.reasons import Reason, WardroundError

OWNER = {"run": "r", "site": "a", "study_digest": "d", "algorithm": "fedbn batchnorm"}


def entries(value: int) -> dict[str, torch.Tensor]:
    return {"norm.weight": torch.full((2,), float(value)), "norm.num_batches_tracked": torch.tensor(value)}


@pytest.fixture(params=["memory", "folder"])
def state(request: pytest.FixtureRequest, tmp_path: Path) -> KeptEntries:
    return KeptEntries() if request.param == "memory" else LocalState(tmp_path / "kept", OWNER)


def value(state: KeptEntries, model_round: int) -> int | None:
    found = state.get(model_round)
    return None if found is None else int(found["norm.num_batches_tracked"])


def test_pending_entries_count_only_when_acknowledged(state: KeptEntries) -> None:
    state.put(1, entries(1))
    assert value(state, 1) is None
    state.acknowledge(1)
    assert value(state, 1) == 1
    state.put(2, entries(2))
    state.acknowledge(1)  # the server did not take round 1's update: model round 2 is not ours
    assert value(state, 2) == 1
    state.acknowledge(2)  # too late: they are gone
    assert value(state, 2) == 1


def test_none_discards(state: KeptEntries) -> None:
    state.put(1, entries(1))
    state.acknowledge(None)
    state.acknowledge(1)
    assert value(state, 1) is None


def test_each_model_gets_the_newest_entries_of_its_round_or_before(state: KeptEntries) -> None:
    for model_round in (1, 2, 4):
        state.put(model_round, entries(model_round))
        state.acknowledge(model_round)
    assert [value(state, k) for k in range(6)] == [None, 1, 2, 2, 4, 4]


def test_a_resumed_run_drops_what_it_left_behind(state: KeptEntries) -> None:
    for model_round in (1, 2, 3):
        state.put(model_round, entries(model_round))
        state.acknowledge(model_round)
    state.put(2, entries(20))  # the server went back to model round 1
    state.acknowledge(2)
    assert [value(state, k) for k in (1, 2, 3)] == [1, 20, 20]


def test_entries_do_not_change_with_the_network(state: KeptEntries) -> None:
    live = entries(1)
    state.put(1, live)
    live["norm.weight"].zero_()
    state.acknowledge(1)
    found = state.get(1)
    assert found is not None
    assert found["norm.weight"].tolist() == [1.0, 1.0]


def test_the_folder_is_for_the_sites_own_user(tmp_path: Path) -> None:
    state = LocalState(tmp_path / "run" / "kept", OWNER)
    assert all(folder.stat().st_mode & 0o077 == 0 for folder in (state.folder, state.folder.parent))


def test_a_new_process_finds_committed_and_pending(tmp_path: Path) -> None:
    first = LocalState(tmp_path, OWNER)
    first.put(1, entries(1))
    first.acknowledge(1)
    first.put(2, entries(2))
    second = LocalState(tmp_path, OWNER)
    assert value(second, 2) == 1
    second.acknowledge(2)
    assert value(second, 2) == 2


@pytest.mark.parametrize("key", list(OWNER))
def test_another_owner_is_refused(tmp_path: Path, key: str) -> None:
    LocalState(tmp_path, OWNER)
    with pytest.raises(WardroundError, match=key) as caught:
        LocalState(tmp_path, {**OWNER, key: "other"})
    assert caught.value.code is Reason.CONFIGURATION_INVALID


def test_nothing_half_written_is_left(tmp_path: Path) -> None:
    state = LocalState(tmp_path, OWNER)
    state.put(1, entries(1))
    state.acknowledge(1)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["kept-000001.safetensors", "owner.json"]
