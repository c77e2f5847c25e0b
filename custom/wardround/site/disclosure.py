"""What of a site's sums may leave it: none that rests on fewer patients than the site's minimum cell."""

from collections.abc import Iterable
from dataclasses import dataclass

from wardround.records.disclosure import Disclosure
from wardround.records.scores import Tally


@dataclass(frozen=True)
class Guarded:
    """Sums that may leave, and the names of those that may not."""

    passed: list[Tally]
    suppressed: list[str]


def guard_sums(tallies: Iterable[Tally], rules: Disclosure) -> Guarded:
    """Holds back each tally whose `support`, in patients, is not known or below `rules.minimum_cell`.

    A sum over one patient is that patient's value, and zero patients are held back too: that nobody has a value may
    say as much as a value. What is held back is told by name alone, never as 0.
    """
    passed: list[Tally] = []
    suppressed: list[str] = []
    for tally in tallies:
        if tally.support is None or tally.support < rules.minimum_cell:
            suppressed.append(tally.name)
        else:
            passed.append(tally)
    return Guarded(passed, suppressed)
