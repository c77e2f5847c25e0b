"""A message of FLARE's as text: every word and number of it, its arrays told by name, shape, norm and hash."""

import hashlib
import math
from collections.abc import Mapping
from enum import Enum
from typing import Any

import numpy as np
import torch
from nvflare.apis.dxo import MetaKey
from nvflare.apis.shareable import ReservedHeaderKey, Shareable
from torch import Tensor

from wardround.flare import messages
from wardround.records.outbox import SentTensor

_DXO = "DXO"  # FLARE's word for where a message's content lies, and for the type of its content
_PARTS = ("kind", "data", "meta")

# FLARE sets these between a message's last look at the site and the wire; the first holds who and which job it is
LATER_HEADERS = frozenset({ReservedHeaderKey.PEER_CTX, ReservedHeaderKey.MSG_ROOT_ID, ReservedHeaderKey.MSG_ROOT_TTL})


def describe(message: Shareable) -> dict[str, Any]:
    """The message's parts by the names of `OutboxLine`: code, kind, reply, metrics, weights, meta, headers, other."""
    headers = dict(message.get(ReservedHeaderKey.HEADERS) or {})
    content = message.get(_DXO)
    content = content if isinstance(content, dict) else {}
    meta, data = dict(content.get("meta") or {}), content.get("data")
    arrays = {name: value for name, value in data.items() if _is_array(value)} if isinstance(data, Mapping) else {}
    metrics = meta.pop(MetaKey.INITIAL_METRICS, {}) or {}
    if isinstance(data, Mapping):
        metrics = {**metrics, **{name: value for name, value in data.items() if name not in arrays}}
    other = {key: value for key, value in message.items() if key not in (_DXO, ReservedHeaderKey.HEADERS)}
    other |= {key: value for key, value in content.items() if key not in _PARTS}
    if data is not None and not isinstance(data, Mapping):
        other["data"] = data
    return {
        "code": str(message.get_return_code()),
        "kind": _plain(content.get("kind")) or "",
        "reply": _plain(meta.pop(messages.KEY, None)),
        "metrics": _plain(metrics),
        "weights": [sent_tensor(str(name), value) for name, value in arrays.items()],
        "meta": _plain(meta),
        "headers": _plain({key: value for key, value in headers.items() if key not in LATER_HEADERS}),
        "other": _plain(other),
    }


def order_of(message: Shareable) -> dict[str, Any]:
    """The order that a message holds, as it came; empty where it holds none."""
    meta = (message.get(_DXO) or {}).get("meta") or {}
    order = meta.get(messages.KEY)
    return order if isinstance(order, dict) else {}


def sent_tensor(name: str, value: Tensor | np.ndarray | np.generic) -> SentTensor:
    """What an array is, without its numbers."""
    if isinstance(value, Tensor):
        tensor = value.detach().cpu().contiguous()
        raw = tensor.reshape(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b""
        dtype, shape = str(tensor.dtype).removeprefix("torch."), list(tensor.shape)
        norm = float(torch.linalg.vector_norm(tensor.double())) if not tensor.is_complex() else math.nan
    else:
        array = np.ascontiguousarray(value)
        raw, dtype, shape = array.tobytes(), str(array.dtype), list(np.shape(value))
        norm = float(np.linalg.norm(array.astype(np.float64).ravel())) if array.dtype.kind in "fiub" else math.nan
    return SentTensor(
        name=name,
        dtype=dtype,
        shape=shape,
        norm=norm if math.isfinite(norm) else None,
        sha256=hashlib.sha256(raw).hexdigest(),
    )


def _is_array(value: Any) -> bool:
    return isinstance(value, Tensor | np.ndarray)


def _plain(value: Any) -> Any:
    """As JSON holds it. What it cannot hold is told by type, and bytes by length and hash."""
    if isinstance(value, Enum):
        return _plain(value.value)
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(one) for one in value]
    if _is_array(value) or isinstance(value, np.generic):
        return sent_tensor("", value).model_dump()
    if isinstance(value, bytes | bytearray | memoryview):
        content = bytes(value)
        return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    return {"type": f"{type(value).__module__}.{type(value).__qualname__}"}
