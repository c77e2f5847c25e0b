"""Whether the sums that a hospital sends can be those of a column: they come from another machine."""

from collections.abc import Mapping, Sequence

from wardround.records.reasons import Reason, WardroundError
from wardround.records.scores import Tally

_KEYS = ("sum", "sum_of_squares")
_ROUNDING = 1e-6  # a row's share of what adding up encoded float32 values may be off


def check_sums(tallies: Sequence[Tally], counts: Mapping[str, int], names: Sequence[str]) -> None:
    """Refuses sums that no training rows have, of values x on the encoded scale of 0 to 1.

        1 <= support <= train_patients,  support <= n <= train_cases,
        0 <= sum x^2 <= sum x <= n,  (sum x)^2 <= n * sum x^2

    Args:
        tallies: as `column_sums` gives them; a column whose sum is held back has none.
        counts: the hospital's patients and cases by split.
        names: what tallies may be called, each at most once.

    Raises:
        WardroundError: one line that names the tally and the difference.
    """
    seen: set[str] = set()
    for tally in tallies:
        if tally.name not in names:
            raise _refused(tally, "is the sum of no number column of the contract")
        if tally.name in seen:
            raise _refused(tally, "is there twice")
        seen.add(tally.name)
        _check_one(tally, counts)


def _check_one(tally: Tally, counts: Mapping[str, int]) -> None:
    if set(tally.counts) != set(_KEYS):
        raise _refused(tally, f"holds {', '.join(sorted(tally.counts)) or 'nothing'}; expected {', '.join(_KEYS)}")
    total, squares = (tally.counts[key] for key in _KEYS)
    rows, support = tally.n, tally.support or 0
    patients, cases = counts.get("train_patients", 0), counts.get("train_cases", 0)
    if not 1 <= support <= patients:
        raise _refused(tally, f"is over {support} patients, the site has {patients} to train on")
    if not support <= rows <= cases:
        raise _refused(tally, f"is over {rows} rows of {support} patients, the site has {cases} rows to train on")
    slack = _ROUNDING * rows
    if not (0 <= squares <= total + slack and total <= rows + slack):
        raise _refused(
            tally, f"has sum {total:g} and sum of squares {squares:g}, which {rows} values of 0 to 1 do not have"
        )
    if total * total > rows * (squares + slack):
        raise _refused(tally, f"has sum {total:g} over {rows} rows, too much for its sum of squares {squares:g}")


def _refused(tally: Tally, what: str) -> WardroundError:
    return WardroundError(
        Reason.COUNT_INVALID, f"statistics: {tally.name} {what}; the site's wardround version or its answer is amiss"
    )
