"""A model on disk: X.safetensors and X.json beside it. Nothing is pickled."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from wardround.learners.card import CheckpointCard
from wardround.learners.sharing import sharing_of, split_entries
from wardround.records.changed import changed
from wardround.records.files import write_whole
from wardround.records.reasons import Reason, WardroundError
from wardround.records.schema_faults import validated
from wardround.records.study import Study
from wardround.workloads.registry import make_workload
from wardround.workloads.workload import Workload

_CARD_DIGEST = "card_sha256"


@dataclass(frozen=True)
class Checkpoint:
    """Named tensors and what they are."""

    tensors: dict[str, Tensor]
    card: CheckpointCard

    def require_complete(self) -> None:
        """Refuses a model that lacks a site's own entries, and says how to get them.

        Raises:
            WardroundError: the checkpoint holds only what sites share.
        """
        if not self.card.complete:
            what_to_do = (
                "a head is learned with labels: use the model that a hospital which trained keeps in its state folder, "
                "under <run>/models, or let this hospital train"
                if self.card.algorithm.kind == "local_head"
                else "run `wardround adapt` with this checkpoint and the site's site.yaml, and use what that writes"
            )
            raise WardroundError(
                Reason.LOCAL_STATE_MISSING,
                f"this {self.card.algorithm.kind} model lacks the {len(self.card.kept_local)} entries that each site "
                f"keeps (such as {self.card.kept_local[0]}), so it cannot predict; "
                f"{what_to_do}",
            )


def make_checkpoint(
    tensors: Mapping[str, Tensor],
    study: Study,
    *,
    model_round: int,
    workload: Workload | None = None,
    site: str | None = None,
    notes: tuple[str, ...] = (),
) -> Checkpoint:
    """Puts tensors and their card together. Complete is what holds every entry that sites keep."""
    workload = workload or make_workload(study)
    own = split_entries(workload.network(), sharing_of(study.algorithm, workload))
    held = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    card = CheckpointCard(
        study=study.name,
        study_seed=study.seed,
        study_digest=study.digest(),
        workload=study.workload,
        algorithm=study.algorithm,
        batch_size=study.training.batch_size,
        model_round=model_round,
        entries=_entries(held),
        kept_local=own.kept_names,
        complete=all(name in held for name, tensor in own.kept.items() if tensor.is_floating_point()),
        site=site,
        metrics=workload.metric_names(),
        key_metric=(study.evaluation.key_metric, study.evaluation.key_metric_mode),
        notes=notes,
        weights_sha256=weights_sha256(held),
    )
    return Checkpoint(held, card)


def with_entries(
    checkpoint: Checkpoint, tensors: Mapping[str, Tensor], *, site: str, notes: tuple[str, ...]
) -> Checkpoint:
    """The checkpoint completed by a site's entries."""
    held = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    update = {
        "entries": _entries(held),
        "complete": True,
        "site": site,
        "notes": (*checkpoint.card.notes, *notes),
        "weights_sha256": weights_sha256(held),
    }
    return replace(checkpoint, tensors=held, card=changed(checkpoint.card, **update))


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> Path:
    """Writes both files, each whole or not at all, and returns the path of the tensors."""
    target = _tensors_file(path)
    about = {"format": checkpoint.card.format, _CARD_DIGEST: checkpoint.card.sha256()}
    write_whole(target, save(checkpoint.tensors, metadata=about))
    write_whole(_card_file(target), checkpoint.card.model_dump_json(indent=2).encode())
    return target


def load_checkpoint(path: Path) -> Checkpoint:
    """Reads both files; `path` may name either, or leave the ending out.

    Raises:
        WardroundError: a file is missing or broken, the two do not belong together, or an entry is not finite.
    """
    target = _tensors_file(path)
    card_file = _card_file(target)
    try:
        content = target.read_bytes()
        tensors = load(content)
        settings = json.loads(card_file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise WardroundError(
            Reason.DATA_MISSING, f"{error.filename}: missing; a checkpoint is X.safetensors with X.json beside it"
        ) from None
    except (SafetensorError, ValueError) as error:
        raise WardroundError(Reason.DATA_UNREADABLE, f"{target}: not a readable checkpoint: {error}") from error
    card = validated(CheckpointCard, settings, str(card_file))
    if _entries(tensors) != card.entries or weights_sha256(tensors) != card.weights_sha256:
        raise WardroundError(
            Reason.DATA_UNREADABLE, f"{target}: its entries are not those of {card_file.name}; copy both files together"
        )
    if _metadata(content).get(_CARD_DIGEST) != card.sha256():
        raise WardroundError(
            Reason.DATA_UNREADABLE,
            f"{card_file}: is not as it was written beside {target.name}: a card says how inputs are prepared, and "
            "is never edited; copy both files together again",
        )
    broken = [name for name, tensor in tensors.items() if not tensor.isfinite().all()]
    if broken:
        raise WardroundError(
            Reason.NOT_FINITE,
            f"{target}: {len(broken)} entries hold NaN or infinity (such as {broken[0]}), so the model is broken; "
            "use another round's",
        )
    return Checkpoint(tensors, card)


def weights_sha256(tensors: Mapping[str, Tensor]) -> str:
    """SHA-256 over names, types, shapes and values in the order of names: equal for bitwise equal weights."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        tensor = tensors[name].detach().cpu().contiguous()
        digest.update(f"{name}\0{tensor.dtype}\0{list(tensor.shape)}\0".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def _metadata(content: bytes) -> dict[str, str]:
    """What a safetensors file says of itself: eight bytes of length, then a header in JSON."""
    length = int.from_bytes(content[:8], "little")
    return dict(json.loads(content[8 : 8 + length]).get("__metadata__") or {})


def _entries(tensors: Mapping[str, Tensor]) -> dict[str, list[str | int]]:
    return {name: [str(t.dtype).removeprefix("torch."), *t.shape] for name, t in sorted(tensors.items())}


def _tensors_file(path: Path) -> Path:
    stem = path.name.removesuffix(".safetensors").removesuffix(".json")
    return path.with_name(f"{stem}.safetensors")


def _card_file(tensors_file: Path) -> Path:
    return tensors_file.with_name(f"{tensors_file.name.removesuffix('.safetensors')}.json")
