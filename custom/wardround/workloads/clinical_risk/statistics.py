"""Mean and scale of the number columns, from sums that sites can add up."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wardround.records.reasons import Reason, WardroundError
from wardround.records.scores import Tally
from wardround.workloads.clinical_risk.contract import Contract
from wardround.workloads.clinical_risk.encode import input_names, number_columns
from wardround.workloads.clinical_risk.rows import Rows

MIDDLE = 0.5  # of a column's plausible range, scaled to [0, 1]: the mean where nobody has a value
SMALLEST_SCALE = 1e-3  # so that no plausible value lies more than 1,000 scales from the mean
_CONSTANT = 1e-6  # a deviation that the rounding of sums can feign

_PREFIX = "column_"


def column_sums(rows: Rows, contract: Contract) -> list[Tally]:
    """Sum and sum of squares of each number column over the rows that have a value, on the encoded [0, 1] scale.

    `n` is how many rows. `support`, by which a site's disclosure rules go, counts the patients whose value is
    another than the commonest one: where all but one have had no admission, the sum of admissions is that one's number,
    whoever else is counted.

    Args:
        rows: encoded and not standardised.
        contract: names the columns.
    """
    patients = np.unique(np.asarray(rows.patients, dtype=np.str_), return_inverse=True)[1]
    return [
        _sums(f"{_PREFIX}{name}", rows.inputs[:, place].double().numpy(), patients)
        for place, name in enumerate(number_columns(contract))
    ]


def _sums(name: str, values: NDArray[np.float64], patients: NDArray[np.intp]) -> Tally:
    observed = ~np.isnan(values)
    known, times = np.unique(values[observed], return_counts=True)
    others = observed & (values != (known[times.argmax()] if known.size else 0.0))
    return Tally(
        name=name,
        counts={"sum": float(values[observed].sum()), "sum_of_squares": float((values[observed] ** 2).sum())},
        n=int(observed.sum()),
        support=len(np.unique(patients[others])),
    )


def tally_names(contract: Contract) -> list[str]:
    """What the sums of a contract's number columns are called."""
    return [f"{_PREFIX}{name}" for name in number_columns(contract)]


def mean_and_scale(tallies: Sequence[Tally], contract: Contract) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation of every input, each [inputs], float32; 0 and 1 for indicators and categories.

        mean = sum / n,   scale = sqrt(max(sum_of_squares / n - mean^2, 0))

    the population's, over all rows of all tallies of a column. The scale of a column that is constant is 1, any other
    is `SMALLEST_SCALE` at least. A column of no row, since no site has a value or all held their sums back, has mean
    `MIDDLE` and scale 1.

    Args:
        tallies: as `column_sums` gives them, of one site or of many.
        contract: names the columns.
    """
    inputs = len(input_names(contract))
    mean, scale = torch.zeros(inputs), torch.ones(inputs)
    for place, name in enumerate(number_columns(contract)):
        own = [tally for tally in tallies if tally.name == f"{_PREFIX}{name}"]
        rows = sum(tally.n for tally in own)
        if not rows:
            mean[place] = MIDDLE
            continue
        centre = sum(tally.counts["sum"] for tally in own) / rows
        variance = max(sum(tally.counts["sum_of_squares"] for tally in own) / rows - centre**2, 0.0)
        mean[place] = centre
        if variance > _CONSTANT**2:
            scale[place] = max(variance**0.5, SMALLEST_SCALE)
    return mean, scale


def own_mean_and_scale(rows: Mapping[str, Rows], contract: Contract) -> tuple[Tensor, Tensor]:
    """Mean and scale of one site's own inputs, see `mean_and_scale`: over its training rows.

    A column that these have no value of, every one at a hospital that is only scored, is taken over all rows of the
    site, whose outcomes are left alone: network weights that were learned on standardised values make no sense of
    others.

    Args:
        rows: by split, encoded and not standardised.
        contract: names the columns.

    Raises:
        WardroundError: the site has no row at all.
    """
    if not any(map(len, rows.values())):
        raise WardroundError(
            Reason.TOO_FEW_CASES,
            "workload.normalisation site: no row of this site is in any split, so its inputs have no mean and scale; "
            "see `split` and `split_column` of site.yaml",
        )
    every = [column_sums(part, contract) for part in rows.values()]
    tallies: list[Tally] = []
    for trained, *column in zip(column_sums(rows["train"], contract), *every, strict=True):
        tallies += [trained] if trained.n else column
    return mean_and_scale(tallies, contract)
