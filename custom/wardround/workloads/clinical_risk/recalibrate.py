"""Probabilities corrected at a site: Platt scaling or isotonic regression, where cross-validation says it helps."""

import logging
from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedGroupKFold
from torch import Tensor, nn

FEWEST_OF_A_CLASS = 10
FEWEST_FOR_ISOTONIC = 1_000  # rows; with fewer its steps follow single patients
FOLDS = 5

_log = logging.getLogger(__name__)
_Logits = NDArray[np.float64]
_Fit = Callable[[_Logits, NDArray[np.uint8]], "nn.Module | None"]


def recalibrated(
    network: nn.Module, logits: _Logits, labels: NDArray[np.uint8], patients: Sequence[str]
) -> nn.Module | None:
    """The network with the correction whose cross-validated log loss is least; None where none beats leaving it.

    Folds keep a patient's rows together and the classes' shares alike. The chosen correction is then fitted on all
    rows.

    Args:
        network: gives logits [batch, 1].
        logits, labels, patients: of the site's validation rows, in one order.
    """
    positive = int(labels.sum())
    if min(positive, len(labels) - positive) < FEWEST_OF_A_CLASS:
        return None
    fits: dict[str, _Fit] = {"platt": fit_platt}
    if len(labels) >= FEWEST_FOR_ISOTONIC:
        fits["isotonic"] = fit_isotonic
    losses = _cross_validated(fits, logits, labels, patients)
    if not losses:
        return None
    best = min(losses, key=losses.__getitem__)
    without = log_loss(labels, _probabilities(logits))
    _log.info("recalibration: log loss %.4f as it is, %.4f with %s", without, losses[best], best)
    correction = fits[best](logits, labels) if losses[best] < without else None
    return None if correction is None else Recalibrated(network, correction)


class Recalibrated(nn.Module):
    """A network followed by a correction of its logits; inputs and shapes are the network's."""

    def __init__(self, network: nn.Module, correction: nn.Module) -> None:
        super().__init__()
        self.network, self.correction = network, correction.to(next(network.parameters()).device)

    def forward(self, inputs: Tensor) -> Tensor:
        """Corrected logits."""
        corrected: Tensor = self.correction(self.network(inputs))
        return corrected


class Platt(nn.Module):
    """slope * logit + intercept (Platt, 1999)."""

    def __init__(self, slope: float, intercept: float) -> None:
        super().__init__()
        self.slope = nn.Parameter(torch.tensor(slope), requires_grad=False)
        self.intercept = nn.Parameter(torch.tensor(intercept), requires_grad=False)

    def forward(self, logits: Tensor) -> Tensor:
        """Of any shape."""
        return self.slope * logits + self.intercept


class Isotonic(nn.Module):
    """The probability as a non-decreasing function of the logit, linear between its knots (Zadrozny and Elkan, 2002).

    Args:
        knots: ascending logits; beyond the outermost the function is level.
        probabilities: at the knots, inside (0, 1), so that no risk is ever certain.
    """

    def __init__(self, knots: _Logits, probabilities: _Logits) -> None:
        super().__init__()
        self.knots = nn.Parameter(torch.from_numpy(knots).float(), requires_grad=False)
        self.probabilities = nn.Parameter(torch.from_numpy(probabilities).float(), requires_grad=False)

    def forward(self, logits: Tensor) -> Tensor:
        """Of any shape."""
        if len(self.knots) == 1:
            return self.probabilities.logit().expand_as(logits)
        within = logits.clamp(self.knots[0], self.knots[-1])
        right = torch.searchsorted(self.knots, within).clamp(1, len(self.knots) - 1)
        left = right - 1
        width = (self.knots[right] - self.knots[left]).clamp_min(torch.finfo(torch.float32).tiny)
        share = (within - self.knots[left]) / width
        probability = torch.lerp(self.probabilities[left], self.probabilities[right], share.clamp(0, 1))
        return probability.logit()


def fit_platt(logits: _Logits, labels: NDArray[np.uint8]) -> Platt | None:
    """Logistic regression on the logit; None where its slope would turn the ranking round."""
    # a trace of a penalty: where a logit separates the classes the slope would have no end
    model = LogisticRegression(C=1e3).fit(logits[:, None], labels)
    slope, intercept = float(model.coef_[0, 0]), float(model.intercept_[0])
    return Platt(slope, intercept) if slope > 0 else None


def fit_isotonic(logits: _Logits, labels: NDArray[np.uint8]) -> Isotonic:
    """Isotonic regression on the logit; probabilities keep 1 / (rows + 2) away from 0 and 1."""
    margin = 1 / (len(labels) + 2)
    model = IsotonicRegression(y_min=margin, y_max=1 - margin, out_of_bounds="clip").fit(logits, labels)
    return Isotonic(model.X_thresholds_, model.y_thresholds_)


def _cross_validated(
    fits: dict[str, _Fit], logits: _Logits, labels: NDArray[np.uint8], patients: Sequence[str]
) -> dict[str, float]:
    """Log loss of each fit on the rows that it did not see; without those that some fold does not allow."""
    count = min(FOLDS, len(set(patients)))
    if count < 2:
        return {}
    folds = list(StratifiedGroupKFold(count, shuffle=True, random_state=0).split(logits, labels, patients))
    if any(len(np.unique(labels[train])) < 2 for train, _ in folds):
        return {}
    losses = {}
    for name, fit in fits.items():
        corrected = np.empty_like(logits)
        for train, held_out in folds:
            correction = fit(logits[train], labels[train])
            if correction is None:
                break
            corrected[held_out] = correction(torch.from_numpy(logits[held_out]).float()).double().numpy()
        else:
            losses[name] = float(log_loss(labels, _probabilities(corrected)))
    return losses


def _probabilities(logits: _Logits) -> _Logits:
    probabilities: _Logits = torch.from_numpy(logits).sigmoid().numpy()
    return probabilities
