"""What each accepted update weighs."""

import math
from collections.abc import Mapping

from wardround.records.reasons import Reason, WardroundError


def effective_weights(counts: Mapping[str, float], weighting: str = "patients") -> dict[str, float]:
    """Weights of the accepted sites, summing to 1.

    Args:
        counts: accepted site to its count: training patients as declared in `prepare`, or optimizer steps made.
        weighting: `equal` ignores the counts; `patients` and `steps` say what they are.

    Raises:
        WardroundError: a count is negative or not finite, or they sum to 0.
    """
    used = dict.fromkeys(counts, 1.0) if weighting == "equal" else counts
    total = math.fsum(used.values())
    if not (math.isfinite(total) and total > 0) or min(used.values()) < 0:
        raise WardroundError(
            Reason.COUNT_INVALID, f"aggregation.weighting {weighting}: counts {dict(counts)} sum to {total}"
        )
    return {site: used[site] / total for site in sorted(used)}
