"""Probabilities corrected at a site: Platt scaling or isotonic regression, where cross-validation says it helps."""

import logging
from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import StratifiedGroupKFold
from torch import Tensor, nn

from wardround.metrics.firm_gain import firm_gain
from wardround.metrics.platt import fit_platt, log_losses
from wardround.metrics.support import FEWEST_OF_A_CLASS

FEWEST_FOR_ISOTONIC = 1_000  # rows; with fewer its steps follow single patients
FOLDS = 5
_RIDGE = 1e-3

_log = logging.getLogger(__name__)
_Logits = NDArray[np.float64]
_Fit = Callable[[_Logits, NDArray[np.uint8]], "nn.Module | None"]


def recalibrated(
    network: nn.Module, logits: _Logits, labels: NDArray[np.uint8], patients: Sequence[str]
) -> nn.Module | None:
    """The network with the correction that lowers the cross-validated log loss most; None where none firmly does.

    Folds keep a patient's rows together and the classes' shares alike. The chosen correction is then fitted on all
    rows. With fewer than `FEWEST_OF_A_CLASS` patients who have a row of a class, there is none.

    Args:
        network: gives logits [batch, 1].
        logits, labels, patients: of the site's validation rows, in one order.
    """
    whose = np.asarray(patients, dtype=np.str_)
    if min(len(np.unique(whose[labels == label])) for label in (0, 1)) < FEWEST_OF_A_CLASS:
        return None
    fits: dict[str, _Fit] = {"platt": _fit_platt}
    if len(labels) >= FEWEST_FOR_ISOTONIC:
        fits["isotonic"] = fit_isotonic
    held_out = _cross_validated(fits, logits, labels, patients)
    without = log_losses(logits, labels)
    gains = {name: firm_gain(without, losses, whose) for name, losses in held_out.items()}
    firm = {name: gain for name, gain in gains.items() if gain is not None}
    _log.info("recalibration: firm gains in log loss %s", firm)
    if not firm:
        return None
    correction = fits[max(firm, key=firm.__getitem__)](logits, labels)
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
    """slope * logit + intercept, see `fit_platt`."""

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


def fit_isotonic(logits: _Logits, labels: NDArray[np.uint8]) -> Isotonic:
    """Isotonic regression on the logit; probabilities keep 1 / (rows + 2) away from 0 and 1."""
    margin = 1 / (len(labels) + 2)
    model = IsotonicRegression(y_min=margin, y_max=1 - margin, out_of_bounds="clip").fit(logits, labels)
    return Isotonic(model.X_thresholds_, model.y_thresholds_)


def _fit_platt(logits: _Logits, labels: NDArray[np.uint8]) -> Platt | None:
    line = fit_platt(logits, labels, ridge=_RIDGE)
    return None if line is None else Platt(*line)


def _cross_validated(
    fits: dict[str, _Fit], logits: _Logits, labels: NDArray[np.uint8], patients: Sequence[str]
) -> dict[str, _Logits]:
    """Log loss by row of each fit to the other folds; without those that some fold does not allow."""
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
            losses[name] = log_losses(corrected, labels)
    return losses
