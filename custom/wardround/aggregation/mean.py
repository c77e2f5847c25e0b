"""The weighted mean of updates."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from wardround.records.reasons import Reason, WardroundError


def weighted_mean(updates: Mapping[str, Mapping[str, Tensor]], weights: Mapping[str, float]) -> dict[str, Tensor]:
    """sum_s w_s d_s / sum_s w_s over sites s, entry by entry.

    Sites are added in the order of their names into one float32 accumulator, so that the result does not depend on
    who answered first, bit for bit, and costs one model of memory beside the updates.

    Args:
        updates: site to difference, all with the same names and shapes, floating point.
        weights: site to a weight, finite and not negative.

    Raises:
        WardroundError: no update, weights that sum to 0 or are not finite, names that differ, an integer entry.
    """
    sites = sorted(updates)
    if not sites:
        raise WardroundError(Reason.ALL_REJECTED, "no update to average")
    for site in sites:
        if not (math.isfinite(weights[site]) and weights[site] >= 0):
            raise WardroundError(Reason.COUNT_INVALID, f"{site}: weight {weights[site]} is not a finite number >= 0")
    total = math.fsum(weights[site] for site in sites)
    if total <= 0:
        raise WardroundError(Reason.COUNT_INVALID, f"weights of {', '.join(sites)} sum to {total}; nothing to average")
    names = sorted(updates[sites[0]])
    mean = [torch.zeros_like(updates[sites[0]][name], dtype=torch.float32) for name in names]
    for site in sites:
        _refuse_unlike(site, updates[site], names)
        torch._foreach_add_(mean, [updates[site][name] for name in names], alpha=weights[site] / total)
    return dict(zip(names, mean, strict=True))


def mean_figures(figures: Mapping[str, Mapping[str, float]], weights: Mapping[str, float]) -> dict[str, float]:
    """sum_s w_s x_s / sum_s w_s by name, each over the sites s that have the figure x.

    Args:
        figures: site to name to value.
        weights: site to weight; sites without one are left out.
    """
    result = {}
    for name in sorted({name for site in weights for name in figures[site]}):
        having = {site: figures[site][name] for site in sorted(weights) if name in figures[site]}
        total = math.fsum(weights[site] for site in having)
        result[name] = math.fsum(weights[site] * value for site, value in having.items()) / total
    return result


def _refuse_unlike(site: str, update: Mapping[str, Tensor], names: list[str]) -> None:
    if sorted(update) != names:
        raise WardroundError(
            Reason.NAMES_MISMATCH, f"{site}: {sorted(set(update) ^ set(names))[:3]} are not shared by all"
        )
    for name in names:
        if not update[name].is_floating_point():
            raise WardroundError(
                Reason.TYPE_MISMATCH, f"{site}: {name} is {update[name].dtype}; counters are not averaged"
            )
