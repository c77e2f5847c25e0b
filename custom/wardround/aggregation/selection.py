"""Which round's model is best, judged over a fixed set of sites."""

import math
from collections.abc import Collection, Mapping


def choose_best(
    scores_by_round: Mapping[int, Mapping[str, float | None]], sites: Collection[str], mode: str = "max"
) -> int | None:
    """The round with the best mean over `sites`; the earliest of equals.

    A round in which one of the sites has no finite score cannot be chosen: else a round could win because the
    weakest hospital was absent from it.

    Args:
        scores_by_round: round to site to the key metric.
        sites: who must have a score.
        mode: `max` or `min`.

    Returns:
        None where no round has a score from every site.
    """
    means = {index: fixed_mean(scores_by_round[index], sites) for index in sorted(scores_by_round)}
    eligible = {index: mean for index, mean in means.items() if mean is not None}
    if not eligible:
        return None
    best = max(eligible.values()) if mode == "max" else min(eligible.values())
    return next(index for index, mean in eligible.items() if mean == best)


def fixed_mean(scores: Mapping[str, float | None], sites: Collection[str]) -> float | None:
    """Mean over `sites`, or None where one of them has no finite score."""
    values = [scores.get(site) for site in sorted(sites)]
    finite = [value for value in values if value is not None and math.isfinite(value)]
    return math.fsum(finite) / len(finite) if finite and len(finite) == len(values) else None
