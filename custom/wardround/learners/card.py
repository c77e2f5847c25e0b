"""What a checkpoint is: the JSON beside its tensors."""

import hashlib
import json
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, model_validator

from wardround.records.study_sections import Algorithm


class CheckpointCard(BaseModel):
    """What a checkpoint is, for people and for whoever loads it.

    Args:
        format: of this pair of files.
        study, study_seed, study_digest: where it comes from.
        workload: the study's workload section: the architecture, and how inputs are prepared.
        algorithm: how it was trained, and which choice decided what stays local.
        batch_size: of its training, which re-measuring statistics repeats.
        model_round: rounds of training behind it; 0 is the initial model.
        entries: name to [dtype, *shape] of what the file holds.
        kept_local: names that stay at a site under this algorithm.
        complete: whether it can predict: False for a FedBN or local head model without a site's entries.
        site: whose entries it holds, where it holds any.
        metrics: names of the figures that models of this study are judged by.
        key_metric: the one that chooses, with `max` or `min`.
        notes: coded remarks, such as statistics_re_measured.
        weights_sha256: of the entries, which ties the two files together.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["wardround-checkpoint-1"] = "wardround-checkpoint-1"
    study: str
    study_seed: int
    study_digest: str
    workload: dict[str, Any]
    algorithm: Algorithm
    batch_size: int
    model_round: int
    entries: dict[str, list[str | int]]
    kept_local: tuple[str, ...] = ()
    complete: bool
    site: str | None = None
    metrics: tuple[str, ...] = ()
    key_metric: tuple[str, str]
    notes: tuple[str, ...] = ()
    weights_sha256: str

    @model_validator(mode="after")
    def _can_be_used(self) -> Self:
        if not isinstance(self.workload.get("kind"), str):
            raise ValueError("workload.kind: expected the workload's name")
        if not self.complete and not self.kept_local:
            raise ValueError("complete: false, but kept_local names no entry that is missing")
        return self

    def sha256(self) -> str:
        """Ties the card to the tensors, in whose file it stands. Against accidents and edits: it is no signature."""
        return hashlib.sha256(json.dumps(self.model_dump(mode="json"), sort_keys=True).encode()).hexdigest()
