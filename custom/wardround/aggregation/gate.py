"""The server's contribution gate: an update is combined only if it is what the site said it would send."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import torch
from torch import Tensor

from wardround.aggregation.norms import l2_norm
from wardround.records.reasons import Reason
from wardround.records.study_sections import Training

Entry = tuple[str, tuple[int, ...]]  # dtype and shape, such as ("float32", (16, 4, 3, 3, 3))

COUNT_LIMIT = 10_000_000  # more patients than any one site has


@dataclass(frozen=True)
class Rejection:
    """Why an update is left out. The name sets tell a renamed entry from another architecture."""

    reason: Reason
    detail: str
    shared: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def check_update(
    difference: Mapping[str, Any],
    count: Any,
    expected: Mapping[str, Entry],
    norm_limit: float | None = None,
    *,
    declared: int | None = None,
    limit: int = COUNT_LIMIT,
) -> Rejection | None:
    """Judges one site's update.

    Args:
        difference: name to tensor, local minus received weights.
        count: what the site weighs by (patients or steps).
        expected: name to dtype and shape.
        norm_limit: largest L2 norm over all entries, or None.
        declared: the count that the site gave in `prepare`, which `count` must equal; None where none was given.
        limit: the largest count that can be; see `most_steps`.

    Returns:
        None where the update may be combined, else the first fault found.
    """
    return (
        _check_count(count, declared, limit)
        or _check_names(difference, expected)
        or _check_tensors(difference, expected)
        or _check_values(difference, norm_limit)
    )


def most_steps(training: Training, train_cases: int) -> int:
    """Optimizer steps that a site can make in a round: `local_steps`, or local_epochs ceil(train_cases / batch_size).

    Args:
        train_cases: as the site declared in `prepare`.
    """
    if training.local_steps is not None:
        return training.local_steps
    assert training.local_epochs is not None
    return training.local_epochs * math.ceil(train_cases / training.batch_size)


def as_tensors(difference: Mapping[str, Any]) -> dict[str, Any]:
    """NumPy arrays become tensors (FLARE's sparse-vector filter turns one into the other); the rest stays as it is."""
    return {name: _as_tensor(value) for name, value in difference.items()}


def is_no_update(difference: Mapping[str, Tensor]) -> bool:
    """Whether the site returned what it received: a `no_update` alarm, since something at the site did not train."""
    return all(not bool(tensor.any()) for tensor in difference.values())


def _check_count(count: Any, declared: int | None, limit: int) -> Rejection | None:
    if not isinstance(count, Integral) or isinstance(count, bool):
        return Rejection(Reason.COUNT_INVALID, f"count: expected a whole number, found {count!r:.40}")
    if not 1 <= int(count) <= limit:
        return Rejection(Reason.COUNT_INVALID, f"count: expected 1 to {limit}, found {int(count)}")
    if declared is not None and int(count) != declared:
        return Rejection(Reason.COUNT_INVALID, f"count: {declared} was declared in prepare, found {int(count)}")
    return None


def _check_names(difference: Mapping[str, Any], expected: Mapping[str, Any]) -> Rejection | None:
    found, wanted = set(difference), set(expected)
    if found == wanted:
        return None
    shared, missing, unknown = (tuple(sorted(names)) for names in (found & wanted, wanted - found, found - wanted))
    detail = f"{len(shared)} names shared, {len(missing)} missing {missing[:3]}, {len(unknown)} unknown {unknown[:3]}"
    return Rejection(Reason.NAMES_MISMATCH, detail, shared, missing, unknown)


def _check_tensors(difference: Mapping[str, Any], expected: Mapping[str, Entry]) -> Rejection | None:
    for name in sorted(expected):
        value, (dtype, shape) = difference[name], expected[name]
        if not isinstance(value, Tensor):
            found = type(value).__name__
            return Rejection(Reason.TYPE_MISMATCH, f"{name}: expected a tensor, found {found}", tuple(sorted(expected)))
        if dtype_name(value) != dtype or not value.is_floating_point():
            found = dtype_name(value)
            return Rejection(Reason.TYPE_MISMATCH, f"{name}: expected {dtype}, found {found}", tuple(sorted(expected)))
        if tuple(value.shape) != tuple(shape):
            found = str(tuple(value.shape))
            return Rejection(Reason.SHAPE_MISMATCH, f"{name}: expected {shape}, found {found}", tuple(sorted(expected)))
    return None


def _check_values(difference: Mapping[str, Tensor], norm_limit: float | None) -> Rejection | None:
    norm = l2_norm(difference.values())
    if not math.isfinite(norm):  # one pass finds any; only then is it worth knowing which
        names = tuple(name for name, tensor in sorted(difference.items()) if not bool(torch.isfinite(tensor).all()))
        if names or math.isnan(norm):
            return Rejection(Reason.NOT_FINITE, f"NaN or infinity in {len(names)} entries {names[:3]}")
        return Rejection(Reason.NORM_TOO_LARGE, "the update's norm is beyond float32")
    if norm_limit is not None and norm > norm_limit:
        return Rejection(Reason.NORM_TOO_LARGE, f"L2 norm {norm:.6g}, limit {norm_limit:.6g}")
    return None


def _as_tensor(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiu":
        return torch.from_numpy(np.array(value, order="C"))
    return value


def dtype_name(tensor: Tensor) -> str:
    """`float32` for torch.float32."""
    return str(tensor.dtype).removeprefix("torch.")
