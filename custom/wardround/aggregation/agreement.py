"""How each site's update stands to the others': its direction, its length, and whether either is an outlier's."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from statistics import median

import torch
from torch import Tensor

from wardround.records.reasons import Reason

OPPOSED = 0.1
"""A cosine beyond -0.1 pulls against; between it and 0.1, two directions are as good as unrelated."""

CHANCE_DEVIATIONS = 3.0
"""Independent directions in d dimensions have a cosine of deviation 1 / sqrt(d): in a small network, -0.1 is chance."""

MUCH_LONGER = 3.0
"""Times the median, beyond what more steps explain: sites of the shipped studies differ by less than 2."""


@dataclass(frozen=True)
class Agreement:
    """One site in one round.

    Args:
        cosine: between its update and the weighted mean of the others'; None where either is 0 or there is no other.
        norm_ratio: its L2 norm by the median of all; None where that is 0.
        flags: codes; empty where it is no outlier.
    """

    cosine: float | None
    norm_ratio: float | None
    flags: tuple[Reason, ...] = ()


def agreement(
    updates: Mapping[str, Mapping[str, Tensor]], weights: Mapping[str, float], steps: Mapping[str, int]
) -> dict[str, Agreement]:
    """Compares each update d_s with m_s, the mean of the others by their weights w:

        cosine_s = <d_s, m_s> / (|d_s| |m_s|),    norm_ratio_s = |d_s| / median_t |d_t|

    A site is an outlier

    - in direction, where there are three sites or more, its cosine is below -L, and the mean cosine between pairs of
      the others is above L, with L = max(0.1, 3 / sqrt(d)) in d dimensions. Without the second condition every site
      would be one at the end of a run: where the mean no longer moves, each update is opposed to the sum of the others.
    - in length, where its norm is above 3 max(1, q) medians or below min(1, q) / 3, with q its steps by the median of
      all. An update's length grows at most in proportion to steps, so those that more data brings explain no more. An
      update of 0 is told elsewhere, as no update.

    Args:
        updates: site to difference, all with the same names and shapes. Only entries that training moves belong here:
            running statistics of BatchNorm follow the data, and are larger than weights by orders.
        weights: site to its weight in the mean.
        steps: site to the optimizer steps that it made.
    """
    sites = sorted(updates)
    if not sites:
        return {}
    products, size = _inner_products([updates[site] for site in sites])
    norms = products.diagonal().clamp(min=0).sqrt()
    cosines = products / norms[:, None].clamp(min=1e-300) / norms[None, :].clamp(min=1e-300)
    limit = max(OPPOSED, CHANCE_DEVIATIONS / sqrt(size))
    middle, usual_steps = median(norms.tolist()), median(steps[site] for site in sites)
    share = torch.tensor([weights[site] for site in sites], dtype=torch.float64)
    found = {}
    for place, site in enumerate(sites):
        others = [other for other in range(len(sites)) if other != place]
        cosine = _cosine_to_mean(products, share, place, others)
        ratio = float(norms[place]) / middle if middle > 0 else None
        flags = []
        if cosine is not None and cosine < -limit and _agree(cosines, others, limit):
            flags.append(Reason.UPDATE_OPPOSED)
        if ratio:
            flags += _of_length(ratio, steps[site] / usual_steps if usual_steps else 1.0)
        found[site] = Agreement(cosine, ratio, tuple(flags))
    return found


def _inner_products(updates: list[Mapping[str, Tensor]]) -> tuple[Tensor, int]:
    """[sites, sites] in float64, entry by entry, and the number of dimensions."""
    products = torch.zeros(len(updates), len(updates), dtype=torch.float64)
    size = 0
    for name in sorted(updates[0]):
        stacked = torch.stack([update[name].detach().reshape(-1) for update in updates]).double()
        products += stacked @ stacked.T
        size += stacked.shape[1]
    return products, max(size, 1)


def _cosine_to_mean(products: Tensor, share: Tensor, place: int, others: list[int]) -> float | None:
    """Of the mean only its direction counts, so that the weights need not sum to 1."""
    towards = float(products[place, others] @ share[others])
    length = float(share[others] @ products[others][:, others] @ share[others])
    own = float(products[place, place])
    if own <= 0 or length <= 0:
        return None
    return max(-1.0, min(1.0, towards / sqrt(own * length)))


def _agree(cosines: Tensor, others: list[int], limit: float) -> bool:
    count = len(others)
    if count < 2:
        return False
    among = cosines[others][:, others]
    return float(among.sum() - among.diagonal().sum()) / (count * (count - 1)) > limit


def _of_length(ratio: float, more_steps: float) -> list[Reason]:
    if ratio > MUCH_LONGER * max(1.0, more_steps):
        return [Reason.UPDATE_MUCH_LARGER]
    if ratio < min(1.0, more_steps) / MUCH_LONGER:
        return [Reason.UPDATE_MUCH_SMALLER]
    return []
