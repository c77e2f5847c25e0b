from pathlib import Path

import pytest
import torch
from torch import Tensor

from support.fake_workload import make_study
from wardround.flare import server_checkpoint
from wardround.flare.server_checkpoint import CheckpointWriter, load_server_checkpoint
from wardround.records.reasons import Reason, WardroundError
from wardround.records.server_state import ServerState, StoredFile, refuse_other_study, rounds_kept, state_file

STUDY = make_study()


def state(rounds_done: int, files: dict[str, StoredFile]) -> ServerState:
    return ServerState(
        wardround=server_checkpoint.__version__,
        run="run",
        environment="sim",
        study=STUDY.model_dump(mode="json"),
        study_digest=STUDY.digest(),
        rounds_done=rounds_done,
        best_round=1 if "best" in files else None,
        fixed_sites=("hospital-a",),
        scores={0: {"hospital-a": 0.5}},
        acknowledged={"hospital-a": 0},
        expected={"hospital-a": 1},
        contributed={"hospital-a": 1},
        partial=[],
        manifests=[],
        missing={},
        **files,
    )


def tensors(value: float) -> dict[str, Tensor]:
    return {"layer.weight": torch.full((2, 3), value)}


def write(writer: CheckpointWriter, rounds_done: int, *, best: float | None = None) -> None:
    writer.write(
        lambda files: state(rounds_done, files),
        rounds_done=rounds_done,
        model=tensors(rounds_done),
        best=None if best is None else (1, tensors(best)),
        record=b"",
    )


def test_what_is_written_is_read(tmp_path: Path) -> None:
    writer = CheckpointWriter(tmp_path)
    writer.write(
        lambda files: state(2, files),
        rounds_done=2,
        model=tensors(2),
        best=(1, tensors(1)),
        record=b"",
        optimiser={"momentum": torch.ones(1)},
    )
    found = load_server_checkpoint(tmp_path)
    assert torch.equal(found.model["layer.weight"], tensors(2)["layer.weight"])
    assert found.best is not None
    assert torch.equal(found.best["layer.weight"], tensors(1)["layer.weight"])
    assert found.optimiser["momentum"].item() == 1
    assert found.state.scores == {0: {"hospital-a": 0.5}}
    assert found.state.settled_study() == STUDY


def test_the_last_two_are_kept_with_their_files_alone(tmp_path: Path) -> None:
    writer = CheckpointWriter(tmp_path)
    for rounds_done in range(5):
        write(writer, rounds_done, best=7.0 if rounds_done > 1 else None)
    assert rounds_kept(tmp_path) == [3, 4]
    kinds = sorted(file.name.split("-")[0] for file in tmp_path.iterdir())
    assert kinds == ["best", "model", "model", "record", "record", "state", "state"]
    assert load_server_checkpoint(tmp_path, 3).model["layer.weight"][0, 0] == 3


def test_a_write_that_fails_leaves_the_one_before_and_no_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = CheckpointWriter(tmp_path)
    write(writer, 1)
    before = sorted(file.name for file in tmp_path.iterdir())

    def full(path: Path, content: bytes) -> None:
        if path.suffix == ".json":
            raise OSError(28, "No space left on device")
        before.append(path.name)
        path.write_bytes(content)

    monkeypatch.setattr(server_checkpoint, "write_whole", full)
    with pytest.raises(OSError, match="No space"):
        write(writer, 2)
    assert load_server_checkpoint(tmp_path).state.rounds_done == 1
    monkeypatch.undo()
    write(writer, 3)
    assert rounds_kept(tmp_path) == [1, 3]
    assert not list(tmp_path.glob("model-000002-*"))  # what the failed one left is forgotten


@pytest.mark.parametrize(
    ("harm", "code", "told"),
    [
        (
            "flip",
            Reason.DATA_UNREADABLE,
            r"model-000002-\w+.safetensors: is not as it was written; copy the folder "
            r"again, or go on from the checkpoint before with --after-round 1$",
        ),
        ("remove", Reason.DATA_MISSING, r"model-000002-\w+.safetensors: missing, though the state names it"),
        ("version", Reason.CONFIGURATION_INVALID, r"written by wardround 9\.9, this is "),
        ("study", Reason.DATA_UNREADABLE, r"state-000002.json: its study does not read as it was written"),
        (
            "cut",
            Reason.DATA_UNREADABLE,
            r"state-000002.json: not a server's checkpoint .* again, or go on from the checkpoint before with "
            r"--after-round 1$",
        ),
        ("key", Reason.DATA_UNREADABLE, r"state-000002.json: not a server's checkpoint \(surprise: "),
        ("path", Reason.DATA_UNREADABLE, r"state-000002.json: not a server's checkpoint \(model.name: "),
        ("empty", Reason.DATA_MISSING, r"holds no state-\*.json"),
    ],
)
def test_a_wrong_checkpoint_is_refused_with_one_line(tmp_path: Path, harm: str, code: Reason, told: str) -> None:
    writer = CheckpointWriter(tmp_path)
    write(writer, 1)
    write(writer, 2)
    (model,) = tmp_path.glob("model-000002-*")
    file = state_file(tmp_path, 2)
    if harm == "flip":
        content = bytearray(model.read_bytes())
        content[-1] ^= 1
        model.write_bytes(bytes(content))
    elif harm == "remove":
        model.unlink()
    elif harm == "empty":
        for each in tmp_path.iterdir():
            each.unlink()
    else:
        text = file.read_text()
        file.write_text(
            {
                "version": text.replace(f'"wardround": "{server_checkpoint.__version__}"', '"wardround": "9.9"'),
                "study": text.replace('"local_steps": 4', '"local_steps": 5'),
                "cut": text[: len(text) // 2],
                "key": text.replace('"format"', '"surprise": 1, "format"'),
                "path": text.replace(model.name, f"../{model.name}"),
            }[harm]
        )
    with pytest.raises(WardroundError, match=told) as caught:
        load_server_checkpoint(tmp_path)
    assert caught.value.code is code
    assert "\n" not in str(caught.value)


def test_a_checkpoint_that_needs_the_damaged_file_too_is_not_advised(tmp_path: Path) -> None:
    writer = CheckpointWriter(tmp_path)
    write(writer, 1, best=1)
    write(writer, 2, best=1)
    (best,) = tmp_path.glob("best-*")
    best.write_bytes(best.read_bytes()[:-1])
    with pytest.raises(
        WardroundError, match=r"best-000001-\w+.safetensors: is not as it was written; copy the folder again$"
    ):
        load_server_checkpoint(tmp_path)


def test_a_round_that_is_not_kept_is_refused_by_name(tmp_path: Path) -> None:
    write(CheckpointWriter(tmp_path), 1)
    with pytest.raises(WardroundError, match="no checkpoint after round 7; kept: 1"):
        load_server_checkpoint(tmp_path, 7)


def test_only_who_must_answer_by_when_may_change(tmp_path: Path) -> None:
    write(CheckpointWriter(tmp_path), 1)
    found = load_server_checkpoint(tmp_path).state
    assert refuse_other_study(found, STUDY) == {}
    assert refuse_other_study(found, make_study(federation={"quorum": 2})) == {"federation.quorum": (3, 2)}
    with pytest.raises(WardroundError, match=r"training\.rounds: 3 in the run, 6 now"):
        refuse_other_study(found, make_study(training__rounds=6))
