"""Updates that are longer than the round's others by orders of magnitude."""

from collections.abc import Mapping
from statistics import median_low


def oversized(norms: Mapping[str, float], limit: float | None) -> dict[str, float]:
    """Sites whose norm is above `limit` medians of the round, and the ratio n_s / median_t n_t of each.

    A mean follows one update that is long enough wherever it points, and what it ruins cannot be trained back within a
    run. A fixed largest norm protects too, but nobody knows it before the first run: it depends on the network, the
    learning rate and the number of steps. The others' norms of the same round know all of these. An honest site is
    longer by its steps and the state of its data, so by one order, seldom by two.

    The lower median is taken, and of norms above 0 alone. Of two sites the longer one is then held against the shorter:
    it cannot be known which of them is wrong, but leaving out the longer costs a round, and taking it the model.
    Not covered: half of the sites or more that are too long together.

    Args:
        norms: site to the L2 norm of its update.
        limit: None for none.
    """
    moved = [norm for norm in norms.values() if norm > 0]
    if limit is None or not moved:
        return {}
    middle = median_low(moved)
    return {site: norm / middle for site, norm in sorted(norms.items()) if norm > limit * middle}
