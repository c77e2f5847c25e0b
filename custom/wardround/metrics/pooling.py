"""One figure over all sites from additive tallies, so that no patient's figure has to leave a site."""

from collections import defaultdict
from collections.abc import Iterable

from wardround.records.scores import Tally


def pool(tallies: Iterable[Tally]) -> list[Tally]:
    """Adds up tallies of the same name, over sites or splits; sorted by name.

    Raises:
        ValueError: two tallies of one name count different things.
    """
    groups: dict[str, list[Tally]] = defaultdict(list)
    for tally in tallies:
        groups[tally.name].append(tally)
    return [_added(name, group) for name, group in sorted(groups.items())]


def pooled_dice(tally: Tally) -> float | None:
    """2 both / (predicted + reference) over all voxels of all cases; None where no case has the region.

    A few large tumors dominate it: it stands beside the mean over cases, never in its place.
    """
    if tally.counts["reference"] == 0:
        return None
    return 2 * tally.counts["both"] / (tally.counts["predicted"] + tally.counts["reference"])


def _added(name: str, group: list[Tally]) -> Tally:
    keys = set(group[0].counts)
    for tally in group[1:]:
        if set(tally.counts) != keys:
            raise ValueError(f"tally {name}: counts {sorted(keys)} at one site, {sorted(tally.counts)} at another")
    counts = {key: sum(tally.counts[key] for tally in group) for key in group[0].counts}
    supports = [tally.support for tally in group if tally.support is not None]
    support = sum(supports) if len(supports) == len(group) else None
    return Tally(name=name, counts=counts, n=sum(tally.n for tally in group), support=support)
