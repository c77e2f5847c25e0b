"""A run at the server on disk after each round: every file whole or absent, the state last, the last two kept.

checkpoint/
    state-000003.json                       names the others by SHA-256
    model-000003-1a2b3c4d.safetensors       with which the next round begins
    best-000002-5e6f7a8b.safetensors        the best so far
    record-000003-9c0d1e2f.jsonl            run.jsonl up to here
"""

import hashlib
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from wardround import __version__
from wardround.records.files import sync_folder, write_whole
from wardround.records.reasons import Reason, WardroundError
from wardround.records.run_lines import RunLine, read_lines
from wardround.records.server_state import (
    STORED_FILE,
    ServerState,
    StoredFile,
    read_state,
    rounds_kept,
    state_file,
)

_KEPT = 2


@dataclass(frozen=True)
class ServerCheckpoint:
    """What a run goes on from.

    Args:
        model: the shared entries that the next round begins with.
        best: those of the best model so far, if a round could be chosen yet.
        optimiser: the server optimiser's tensors; empty without one.
        record: the run's lines up to here, as they were written.
    """

    state: ServerState
    model: dict[str, Tensor]
    best: dict[str, Tensor] | None
    optimiser: dict[str, Tensor]
    record: bytes
    lines: list[RunLine]


class CheckpointWriter:
    """Writes checkpoints into one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._best: tuple[int, StoredFile] | None = None

    def write(
        self,
        make_state: Callable[[dict[str, StoredFile]], ServerState],
        *,
        rounds_done: int,
        model: Mapping[str, Tensor],
        best: tuple[int, Mapping[str, Tensor]] | None,
        record: bytes,
        optimiser: Mapping[str, Tensor] | None = None,
    ) -> None:
        """Writes one checkpoint, and forgets all but the last two.

        Args:
            make_state: gets the files by kind (`model`, `best`, `optimiser`, `record`).
            rounds_done: how many rounds are behind `model`.
            best: the best model so far and its round.
            record: the run's record, this round's line included.

        Raises:
            OSError: it could not be written whole, such as on a full disk. The one before stays as it was.
        """
        try:
            files = {"model": self._store("model", rounds_done, _content(model))}
            if best is not None:
                files["best"] = self._store_best(*best)
            if optimiser:
                files["optimiser"] = self._store("optimiser", rounds_done, _content(optimiser))
            files["record"] = self._store("record", rounds_done, record, ending="jsonl")
            sync_folder(self.folder)
            state = make_state(files)
            write_whole(state_file(self.folder, rounds_done), state.model_dump_json(indent=2).encode())
            sync_folder(self.folder)
        except OSError:
            self._best = None  # which may be one of the files that go
            with suppress(OSError, WardroundError):  # the disk may be gone altogether
                self._forget_unnamed()  # else each try would take more of a disk that is full
            raise
        self._forget(rounds_done)

    def remove(self) -> None:
        """Once a run is complete there is nothing to go on with."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _store(self, kind: str, model_round: int, content: bytes, *, ending: str = "safetensors") -> StoredFile:
        sha = hashlib.sha256(content).hexdigest()
        file = StoredFile(name=f"{kind}-{model_round:06d}-{sha[:8]}.{ending}", sha256=sha)
        write_whole(self.folder / file.name, content)
        return file

    def _store_best(self, model_round: int, tensors: Mapping[str, Tensor]) -> StoredFile:
        if self._best is None or self._best[0] != model_round:
            self._best = model_round, self._store("best", model_round, _content(tensors))
        return self._best[1]

    def _forget(self, newest: int) -> None:
        kept = [one for one in rounds_kept(self.folder) if one <= newest][-_KEPT:]
        for one in set(rounds_kept(self.folder)) - set(kept):
            state_file(self.folder, one).unlink(missing_ok=True)
        self._forget_unnamed()

    def _forget_unnamed(self) -> None:
        kept = rounds_kept(self.folder)
        named = {file.name for one in kept for file in read_state(state_file(self.folder, one)).files}
        for file in self.folder.iterdir():
            if STORED_FILE.match(file.name) and file.name not in named:
                file.unlink(missing_ok=True)


def load_server_checkpoint(folder: Path, rounds_done: int | None = None) -> ServerCheckpoint:
    """Reads the newest checkpoint of a folder, or the one after `rounds_done` rounds, and checks every byte.

    Raises:
        WardroundError: there is none, a file is missing or broken, or another wardround wrote it.
    """
    kept = rounds_kept(folder)
    if not kept:
        raise WardroundError(
            Reason.DATA_MISSING, f"{folder}: holds no state-*.json, so no checkpoint that a run could go on from"
        )
    if rounds_done is not None and rounds_done not in kept:
        raise WardroundError(
            Reason.DATA_MISSING, f"{folder}: no checkpoint after round {rounds_done}; kept: {', '.join(map(str, kept))}"
        )
    chosen = kept[-1] if rounds_done is None else rounds_done
    others = [one for one in reversed(kept) if one != chosen]
    try:
        state = read_state(state_file(folder, chosen))
    except WardroundError as error:
        raise WardroundError(error.code, f"{error}{_instead(folder, others)}") from error
    if state.wardround != __version__:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"{folder}: written by wardround {state.wardround}, this is {__version__}; "
            "go on with the version that the run began with",
        )
    content = {file.name: _read(folder, file, others) for file in state.files}
    tensors = {file.name: _tensors(folder / file.name, content[file.name]) for file in state.files if _holds(file)}
    return ServerCheckpoint(
        state=state,
        model=tensors[state.model.name],
        best=tensors[state.best.name] if state.best else None,
        optimiser=tensors[state.optimiser.name] if state.optimiser else {},
        record=content[state.record.name],
        lines=read_lines(folder / state.record.name),
    )


def _content(tensors: Mapping[str, Tensor]) -> bytes:
    return save({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()})


def _holds(file: StoredFile) -> bool:
    return file.name.endswith(".safetensors")


def _instead(folder: Path, others: list[int]) -> str:
    """What else could be gone on from: a whole checkpoint, none of whose files is damaged."""
    for one in others:
        try:
            files = read_state(state_file(folder, one)).files
            whole = all(hashlib.sha256((folder / file.name).read_bytes()).hexdigest() == file.sha256 for file in files)
        except (WardroundError, OSError):
            continue
        if whole:
            return f", or go on from the checkpoint before with --after-round {one}"
    return ""


def _read(folder: Path, file: StoredFile, others: list[int]) -> bytes:
    try:
        content = (folder / file.name).read_bytes()
    except FileNotFoundError:
        raise WardroundError(
            Reason.DATA_MISSING,
            f"{folder / file.name}: missing, though the state names it; copy the folder again"
            + _instead(folder, others),
        ) from None
    if hashlib.sha256(content).hexdigest() != file.sha256:
        raise WardroundError(
            Reason.DATA_UNREADABLE,
            f"{folder / file.name}: is not as it was written; copy the folder again" + _instead(folder, others),
        )
    return content


def _tensors(file: Path, content: bytes) -> dict[str, Tensor]:
    try:
        return dict(load(content))
    except (SafetensorError, ValueError) as error:
        raise WardroundError(Reason.DATA_UNREADABLE, f"{file}: holds no tensors: {error}") from error
