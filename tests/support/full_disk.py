"""Checkpoints where there is no room left, at each point of writing one.

    unshare --user --map-root-user --mount python -m support.full_disk FOLDER

mounts a small disk of memory on FOLDER, which no other process sees, and prints what came of the tries as JSON.
"""

import errno
import json
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor

from support.fake_workload import make_study
from wardround import __version__
from wardround.flare.server_checkpoint import CheckpointWriter, load_server_checkpoint
from wardround.records.files import write_whole
from wardround.records.server_state import ServerState, StoredFile

Room = Callable[[int], AbstractContextManager[None]]

_STEP = 4096  # a page, which is what tmpfs gives out
_MOST = 40 * _STEP
_STUDY = make_study()


@dataclass(frozen=True)
class Try:
    """Two writes with the same room.

    Args:
        room: bytes that were left.
        error: the name of the checkpoint's errno, where it failed.
        left_behind: files that are new in its folder.
        newest: how many rounds are behind the newest checkpoint that can be read whole.
        file_error: as `error`, of a single file that was to replace another.
        file: the content that it has.
    """

    room: int
    error: str | None
    left_behind: list[str]
    newest: int
    file_error: str | None
    file: str


def tries(folder: Path, room: Room) -> list[Try]:
    """Writes a checkpoint, then the next with room for nothing, and with a page more each time until it succeeds."""
    checkpoints, file = folder / "checkpoint", folder / "file"
    writer = CheckpointWriter(checkpoints)
    _write(writer, 1)
    before = _names(checkpoints)
    found: list[Try] = []
    for bytes_left in range(0, _MOST, _STEP):
        write_whole(file, b"old" * _STEP)
        with room(bytes_left):
            file_error = _error_of(lambda: write_whole(file, b"new" * _STEP))
            error = _error_of(lambda: _write(writer, 2))
        newest = load_server_checkpoint(checkpoints).state.rounds_done
        content = {b"old" * _STEP: "old", b"new" * _STEP: "new"}.get(file.read_bytes(), "neither")
        left = sorted(_names(checkpoints) - before)
        found.append(Try(bytes_left, error, left, newest, file_error, content))
        if error is None:
            break
    return found


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Of this process; more fails as on a disk that is full, but with an errno of its own."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def disk_full_but_for(disk: Path) -> Room:
    """Fills a disk but for some bytes."""
    ballast = disk / "ballast"

    @contextmanager
    def room(size: int) -> Iterator[None]:
        with ballast.open("wb", buffering=0) as stream:
            while _error_of(lambda: stream.write(b"\0" * _STEP)) is None:
                pass
            stream.truncate(stream.seek(0, 2) - size)
        try:
            yield
        finally:
            ballast.unlink()

    return room


def _write(writer: CheckpointWriter, rounds_done: int) -> None:
    model = {"layer.weight": torch.full((_STEP,), float(rounds_done))}
    writer.write(
        lambda files: _state(rounds_done, files),
        rounds_done=rounds_done,
        model=model,
        best=(rounds_done, _half(model)),
        record=b"\n" * _STEP,
        optimiser=model,
    )


def _half(model: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor / 2 for name, tensor in model.items()}


def _state(rounds_done: int, files: dict[str, StoredFile]) -> ServerState:
    return ServerState(
        wardround=__version__,
        run="run",
        environment="sim",
        study=_STUDY.model_dump(mode="json"),
        study_digest=_STUDY.digest(),
        rounds_done=rounds_done,
        best_round=rounds_done,
        fixed_sites=("hospital-a",),
        scores={},
        acknowledged={},
        expected={},
        contributed={},
        partial=[],
        manifests=[],
        missing={},
        **files,
    )


def _names(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


def _error_of(write: Callable[[], object]) -> str | None:
    try:
        write()
    except OSError as error:
        return errno.errorcode[error.errno or 0]
    return None


if __name__ == "__main__":
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", sys.argv[1]], check=True)
    found = tries(Path(sys.argv[1]), disk_full_but_for(Path(sys.argv[1])))
    sys.stdout.write(json.dumps([asdict(one) for one in found]))
