"""A paused round on disk: one safetensors file, with what is no tensor as JSON in its header. Nothing is pickled."""

import logging
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from wardround.records.files import private_folder, write_whole

_log = logging.getLogger(__name__)

_FILE = "paused.safetensors"
_HEADER = "paused"
_PARTS = ("network", "optimizer", "generator")


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Start(_Settings):
    """What steps begin with; equal for equal steps.

    Args:
        study_digest, site, purpose, round, steps: what is trained, where, why, when and how long.
        cases_sha256: of the data, which a hospital may change while it pauses.
        weights_sha256: of every entry of the network before the first step.
    """

    study_digest: str
    site: str
    purpose: str
    round: int
    steps: int
    cases_sha256: str
    weights_sha256: str


class StepsDone(_Settings):
    """How far steps are.

    Args:
        taken: batches, also those whose step was skipped.
        made: steps.
        total: the sum of their losses.
        in_a_row: losses up to now that were not finite.
        seconds: wall time.
    """

    taken: int = Field(0, ge=0)
    made: int = Field(0, ge=0)
    total: float = 0.0
    in_a_row: int = Field(0, ge=0)
    seconds: float = Field(0.0, ge=0)


class _Header(_Settings):
    start: Start
    progress: StepsDone
    scaler: dict[str, float | int]


@dataclass(frozen=True)
class PausedRound:
    """What is kept; tensors are on the CPU.

    Attributes:
        network: every entry.
        optimizer: state by number of the parameter, as in `Optimizer.state_dict`.
        generators: torch's own, by device type.
        scaler: `GradScaler.state_dict`.
    """

    start: Start
    progress: StepsDone
    network: dict[str, Tensor]
    optimizer: dict[int, dict[str, Tensor]]
    generators: dict[str, Tensor]
    scaler: dict[str, float | int]


def write_paused(folder: Path, paused: PausedRound) -> None:
    """Writes it whole or not at all, in place of an earlier one."""
    parts = [
        *((f"network/{name}", tensor) for name, tensor in paused.network.items()),
        *((f"optimizer/{i}/{key}", tensor) for i, state in paused.optimizer.items() for key, tensor in state.items()),
        *((f"generator/{name}", tensor) for name, tensor in paused.generators.items()),
    ]
    # cloned: entries may share storage, which safetensors refuses
    tensors = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in parts}
    header = _Header(start=paused.start, progress=paused.progress, scaler=paused.scaler)
    write_whole(
        private_folder(folder) / _FILE, save(tensors, metadata={_HEADER: header.model_dump_json()}), private=True
    )


def read_paused(folder: Path, start: Start) -> PausedRound | None:
    """What was kept of the very steps that begin with `start`; None where that is nothing, or not to be read."""
    file = folder / _FILE
    if not file.is_file():
        return None
    try:
        with safe_open(file, framework="pt") as content:
            header = _Header.model_validate_json((content.metadata() or {}).get(_HEADER, ""))
            tensors = {name: content.get_tensor(name) for name in content.keys()}  # noqa: SIM118 - no mapping
    except (OSError, SafetensorError, ValidationError) as error:
        _log.warning("%s: cannot be read (%s); the round starts anew", file, type(error).__name__)
        return None
    if header.start != start:
        _log.info("%s: of other steps than the ones that are asked for; not used", file)
        return None
    return PausedRound(start, header.progress, *_sorted(tensors), header.scaler)


def remove_paused(folder: Path) -> None:
    """Removes what is kept, if there is anything."""
    (folder / _FILE).unlink(missing_ok=True)


def _sorted(
    tensors: dict[str, Tensor],
) -> tuple[dict[str, Tensor], dict[int, dict[str, Tensor]], dict[str, Tensor]]:
    parts: dict[str, dict[str, Tensor]] = {part: {} for part in _PARTS}
    for name, tensor in tensors.items():
        part, _, rest = name.partition("/")
        parts[part][rest] = tensor
    optimizer: dict[int, dict[str, Tensor]] = {}
    for name, tensor in parts["optimizer"].items():
        index, _, key = name.partition("/")
        optimizer.setdefault(int(index), {})[key] = tensor
    return parts["network"], optimizer, parts["generator"]
