"""What a site adds to its gradient: nothing, or FedProx's pull towards the global model."""

import logging
import math
from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from wardround.aggregation.norms import l2_norm
from wardround.records.reasons import Reason, WardroundError

logger = logging.getLogger(__name__)


class Correction(Protocol):
    """A change of the gradient, once per optimizer step, after backward and unscaling and before clipping."""

    def begin(self, parameters: Sequence[Tensor], reference: Sequence[Tensor]) -> None:
        """Starts a round: the shared trainable parameters, and their received values in the same order."""

    def apply(self) -> None:
        """Adds the correction to the parameters' `.grad` in place."""

    def gradient_norm(self) -> float:
        """L2 norm of what `apply` adds at the current weights."""

    def value(self) -> float:
        """The term whose gradient `apply` adds, at the current weights."""


class NoCorrection:
    """The plain gradient."""

    def begin(self, parameters: Sequence[Tensor], reference: Sequence[Tensor]) -> None:
        """Nothing to keep."""

    def apply(self) -> None:
        """Nothing to add."""

    def gradient_norm(self) -> float:
        """Nothing was added."""
        return 0.0

    def value(self) -> float:
        """No term."""
        return 0.0


class ProximalCorrection:
    """FedProx: mu/2 ||w - w_global||^2, as its gradient mu (w - w_global) (Li et al., MLSys 2020, equation 2).

    Two foreach additions to `.grad`, without temporaries and without the term in the autograd graph: the same
    gradient at a fraction of the cost.

    Raises:
        WardroundError: mu is negative or not finite; a reference that is the live weight itself.
    """

    def __init__(self, mu: float) -> None:
        if not (math.isfinite(mu) and mu >= 0):
            raise WardroundError(
                Reason.CONFIGURATION_INVALID, f"algorithm.mu: expected a finite number >= 0, found {mu}"
            )
        if mu == 0:
            logger.warning("algorithm.mu is 0: the proximal term does nothing")
        self.mu = mu
        self._parameters: list[Tensor] = []
        self._reference: list[Tensor] = []

    def begin(self, parameters: Sequence[Tensor], reference: Sequence[Tensor]) -> None:
        """Keeps both lists. A reference that shares memory with the weights would make the term 0, so it is refused."""
        if any(p.data_ptr() == r.data_ptr() for p, r in zip(parameters, reference, strict=True) if p.numel()):
            raise WardroundError(Reason.SITE_FAILED, "proximal term: the reference is the live weights; clone them")
        self._parameters, self._reference = list(parameters), list(reference)

    @torch.no_grad()
    def apply(self) -> None:
        """Adds mu w, then -mu w_global. A parameter without a gradient has not moved, so it needs none."""
        parameters, reference = self._parameters, self._reference
        gradients = [gradient for parameter in parameters if (gradient := parameter.grad) is not None]
        if len(gradients) < len(parameters):  # rare, and a small network's step is not much longer than this choice
            moved = [(p, r) for p, r in zip(parameters, reference, strict=True) if p.grad is not None]
            parameters, reference = [p for p, _ in moved], [r for _, r in moved]
        if gradients:
            torch._foreach_add_(gradients, parameters, alpha=self.mu)
            torch._foreach_add_(gradients, reference, alpha=-self.mu)

    def gradient_norm(self) -> float:
        """mu ||w - w_global||."""
        return self.mu * self._distance()

    def value(self) -> float:
        """mu/2 ||w - w_global||^2."""
        return self.mu / 2 * self._distance() ** 2

    @torch.no_grad()
    def _distance(self) -> float:
        return l2_norm(torch._foreach_sub(self._parameters, self._reference)) if self._parameters else 0.0
