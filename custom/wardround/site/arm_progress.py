"""How far the training of a site's own model is, on disk after each round: what a pause or a crash does not cost."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from wardround.records.files import private_folder, write_whole

_log = logging.getLogger(__name__)

_FILE = "rounds.safetensors"
_HEADER = "rounds"
_NETWORK, _BEST = "network", "best"

Values = dict[int, dict[str, float | None]]


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class ArmStart(_Settings):
    """What the rounds of an arm begin with; equal for equal rounds.

    Args:
        study_digest, arm: what is trained.
        cases_sha256: of the data, which a hospital may change between two of its windows: who opted out since must
            have no part in what is gone on from.
        weights_sha256: of the first model, which rests on the sums of the data.
    """

    study_digest: str
    arm: str
    cases_sha256: str
    weights_sha256: str


class _Header(_Settings):
    start: ArmStart
    rounds_done: int = Field(ge=1)
    values: Values
    best_round: int | None


@dataclass(frozen=True)
class ArmProgress:
    """An arm's training between two rounds. Random numbers are no part of it: each round draws from its own seed.

    Args:
        rounds_done: how many.
        network: every entry after them.
        values: the key figure of each model that was scored, by its round and site.
        best: the round and entries of the best model so far.
    """

    rounds_done: int = 0
    network: Mapping[str, Tensor] = field(default_factory=dict, repr=False)
    values: Values = field(default_factory=dict)
    best: tuple[int, Mapping[str, Tensor]] | None = field(default=None, repr=False)


class ProgressFile:
    """Keeps one arm's progress in a folder of the site.

    Args:
        folder: made where it is missing.
        start: what the rounds begin with. What is kept of others is not used.
    """

    def __init__(self, folder: Path, start: ArmStart) -> None:
        self._file, self._start = folder / _FILE, start

    def read(self) -> ArmProgress:
        """What was kept; the beginning where that is nothing, of other rounds, or not to be read."""
        if not self._file.is_file():
            return ArmProgress()
        try:
            with safe_open(self._file, framework="pt") as content:
                header = _Header.model_validate_json((content.metadata() or {}).get(_HEADER, ""))
                tensors = {name: content.get_tensor(name) for name in content.keys()}  # noqa: SIM118 - no mapping
        except (OSError, SafetensorError, ValidationError) as error:
            _log.warning("%s: cannot be read (%s); the rounds start anew", self._file, type(error).__name__)
            self.remove()
            return ArmProgress()
        if header.start != self._start:
            _log.info("%s: of another study, or of other data; the rounds start anew", self._file)
            self.remove()
            return ArmProgress()
        best = None if header.best_round is None else (header.best_round, _part(tensors, _BEST))
        return ArmProgress(header.rounds_done, _part(tensors, _NETWORK), header.values, best)

    def write(self, progress: ArmProgress) -> None:
        """Writes it whole, in place of the one before. Where that fails training goes on, and the one before stays."""
        best_round, best = progress.best or (None, {})
        header = _Header(
            start=self._start, rounds_done=progress.rounds_done, values=progress.values, best_round=best_round
        )
        tensors = {
            f"{part}/{name}": tensor.contiguous()
            for part, entries in ((_NETWORK, progress.network), (_BEST, best))
            for name, tensor in entries.items()
        }
        content = save(tensors, metadata={_HEADER: header.model_dump_json()})
        try:
            private_folder(self._file.parent)
            write_whole(self._file, content, private=True)
        except OSError as error:
            _log.warning(
                "%s: %s; a pause would cost what was trained since the last round that was written",
                self._file,
                error.strerror,
            )

    def remove(self) -> None:
        """Removes what is kept, if there is anything."""
        self._file.unlink(missing_ok=True)


def _part(tensors: Mapping[str, Tensor], part: str) -> dict[str, Tensor]:
    return {name.partition("/")[2]: tensor for name, tensor in tensors.items() if name.partition("/")[0] == part}
