"""L2 norms over lists of tensors."""

from collections.abc import Iterable

import torch
from torch import Tensor


def l2_norm(tensors: Iterable[Tensor]) -> float:
    """sqrt(sum over all entries of x^2); NaN or infinity where any entry is, 0 for none.

    Each tensor's norm is taken in its own precision, their combination in float64. One pass, one read-out.
    """
    listed = [tensor.detach() for tensor in tensors if tensor.numel()]
    if not listed:
        return 0.0
    total = torch.stack(torch._foreach_norm(listed)).double().norm()
    return float(total)
