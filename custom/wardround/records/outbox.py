"""One line of a site's outbox: what left it, as it left."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

FILE_NAME = "outbox.jsonl"


class SentTensor(BaseModel):
    """An array of numbers, told by what it is and not by its numbers.

    Args:
        name: of the entry, such as `model.0.conv.unit0.conv.weight`.
        dtype: such as `float32`.
        shape: as sent.
        norm: L2 norm over all its numbers, in float64; None where that is not finite, or where it holds no numbers.
        sha256: of its bytes in row order, as they are in memory and in a safetensors file.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: str
    dtype: str
    shape: list[int]
    norm: float | None
    sha256: str


class OutboxLine(BaseModel):
    """A message to the server, whole but for the numbers of its arrays.

    Args:
        time: when it was handed over for sending, ISO 8601 in UTC.
        site, study, run: whose, and of what; `run` is empty where the order named none.
        job, task, task_id: FLARE's.
        round, arm, split: of the order.
        kind: FLARE's word for the content, such as WEIGHT_DIFF or METRICS.
        reply: counts, figures, sums, notes or the reason code: `Reply`, see the reference.
        metrics: figures once more, as FLARE's own floats.
        weights: by name, in the order in which they are sent.
        meta: what else FLARE's own filters and utilities put beside them.
        headers: FLARE's headers, as of when it was written.
        other: whatever a message of ours does not hold; empty.
        code: FLARE's return code, or FLARE where FLARE itself answered, with a return code and nothing else.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    time: str
    site: str
    study: str = ""
    run: str = ""
    job: str = ""
    task: str = ""
    task_id: str = ""
    round: int | None = None
    arm: str = ""
    split: str = ""
    kind: str = ""
    reply: dict[str, Any] | None = None
    metrics: dict[str, Any] = Field(default_factory=dict)
    weights: list[SentTensor] = Field(default_factory=list)
    meta: dict[str, Any] = Field(default_factory=dict)
    headers: dict[str, Any] = Field(default_factory=dict)
    other: dict[str, Any] = Field(default_factory=dict)
    code: str = "OK"
