"""Which of a site's sums may leave it: none that rests on fewer patients than the site's minimum cell."""

from collections.abc import Iterable

from wardround.records.disclosure import Disclosure
from wardround.records.scores import Tally
from wardround.site.guarded import Guarded
from wardround.workloads.words import Words


def guard_sums(tallies: Iterable[Tally], rules: Disclosure, words: Words) -> Guarded[list[Tally]]:
    """Holds back each tally whose `support`, in patients, is not known or below `rules.minimum_cell`.

    A sum over one patient is that patient's value, and zero patients are held back too: that nobody has a value may
    say as much as a value. What is held back is told by name alone, never as 0. Sums pass as they are, without
    rounding: sites' sums are added up, and means and deviations are differences of large ones.
    """
    passed: list[Tally] = []
    suppressed: list[str] = []
    unlisted: list[str] = []
    for tally in tallies:
        if not words.knows_sum_of(tally.name, tally.counts):
            unlisted.append(tally.name)
        elif tally.support is None or tally.support < rules.minimum_cell or not rules.allows(tally.name):
            suppressed.append(tally.name)
        else:
            passed.append(tally)
    return Guarded(passed, suppressed, unlisted)
