"""Tables over seeds, and where federation does not help: no lead is claimed that lies within the spread over seeds."""

import statistics
from collections.abc import Iterator, Mapping, Sequence

from rich.table import Table

from arms import ALONE, FEDERATED, LOWER_IS_BETTER, METRICS, OWN_REGRESSION, Figures

Outcome = Mapping[str, Mapping[str, Figures]]  # arm to site to figures, of one seed
JUDGED = ("AUROC", "Brier")
FEWEST_SEEDS = 3


def metric_tables(
    outcomes: Sequence[Outcome], *, title: str, published: Mapping[str, Mapping[str, float]] | None = None
) -> Iterator[Table]:
    """One table a metric: mean and standard deviation over seeds by arm and hospital.

    A hospital where a figure is undefined, or rests on too few cases of one class, gets no number in any seed that is
    so; the count of seeds that have one is told where it is not all.

    Args:
        outcomes: by seed.
        title: of the comparison.
        published: accuracies by row and hospital to stand below our own.
    """
    sites = _sites(outcomes)
    for metric in METRICS:
        table = Table(metric, *(f"{site}\n{_support(outcomes, site)}" for site in sites), title=f"{title}: {metric}")
        for arm in outcomes[0]:
            table.add_row(arm, *(_cell(_values(outcomes, arm, site, metric), len(outcomes)) for site in sites))
        for row, figures in (published or {}).items() if metric == "accuracy" else ():
            table.add_row(row, *(f"{figures[site]:.3f}" for site in sites))
        yield table


def difference_tables(outcomes: Sequence[Outcome], *, title: str) -> Iterator[Table]:
    """One table a judged metric: each federated arm less each hospital's own model, positive where it is better.

    Differences are paired by seed, so both models see the same patients. `better` or `worse` stands only where all
    seeds agree and the mean difference exceeds its standard deviation, over at least three seeds.
    """
    sites = _sites(outcomes)
    for metric in JUDGED:
        table = Table(metric, *sites, title=f"{title}: what each gains over {ALONE}, {metric}")
        for arm in (*FEDERATED, OWN_REGRESSION):
            table.add_row(arm, *(_gain(_differences(outcomes, arm, ALONE, site, metric)) for site in sites))
        yield table


def verdicts(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """A sentence a hospital and metric: whether federation helps there, and where it harms."""
    for site in _sites(outcomes):
        for metric in JUDGED:
            differences = {arm: _differences(outcomes, arm, ALONE, site, metric) for arm in FEDERATED}
            sides = {arm: _side(found) for arm, found in differences.items()}
            if not any(len(found) >= FEWEST_SEEDS for found in differences.values()):
                yield f"{site}, {metric}: defined on enough cases of both classes in too few seeds to compare anything."
                continue
            better, worse = ("; ".join(arm for arm in sides if sides[arm] == side) for side in ("better", "worse"))
            helps = f"helps ({better})" if better else "does not help: no arm is better beyond the spread over seeds"
            yield f"{site}, {metric}: federation {helps}{f'; it harms ({worse})' if worse else ''}."


def _differences(outcomes: Sequence[Outcome], arm: str, reference: str, site: str, metric: str) -> list[float]:
    """Ours less theirs by seed, positive where ours is better."""
    sign = -1 if metric in LOWER_IS_BETTER else 1
    pairs = [(_value(o, arm, site, metric), _value(o, reference, site, metric)) for o in outcomes]
    return [sign * (ours - theirs) for ours, theirs in pairs if ours is not None and theirs is not None]


def _gain(differences: Sequence[float]) -> str:
    """`+0.041 +- 0.029 better`."""
    if not differences:
        return "undefined"
    spread = f" +- {statistics.stdev(differences):.3f}" if len(differences) > 1 else ""
    return f"{statistics.fmean(differences):+.3f}{spread} {_side(differences) or ''}".strip()


def _side(differences: Sequence[float]) -> str | None:
    if len(differences) < FEWEST_SEEDS or abs(statistics.fmean(differences)) <= statistics.stdev(differences):
        return None
    if all(difference > 0 for difference in differences):
        return "better"
    return "worse" if all(difference < 0 for difference in differences) else None


def _sites(outcomes: Sequence[Outcome]) -> list[str]:
    return sorted({site for outcome in outcomes for by_site in outcome.values() for site in by_site})


def _support(outcomes: Sequence[Outcome], site: str) -> str:
    """Positive cases of all, as a range where seeds draw other patients."""
    found = sorted({(f.n_positive, f.n) for outcome in outcomes for arm in outcome.values() if (f := arm.get(site))})
    if not found:
        return ""
    (fewest, n), (most, _) = found[0], found[-1]
    return f"{fewest} of {n}" if fewest == most else f"{fewest} to {most} of {n}"


def _value(outcome: Outcome, arm: str, site: str, metric: str) -> float | None:
    figures = outcome.get(arm, {}).get(site)
    return figures.values[metric] if figures else None


def _values(outcomes: Sequence[Outcome], arm: str, site: str, metric: str) -> list[float]:
    return [v for outcome in outcomes if (v := _value(outcome, arm, site, metric)) is not None]


def _cell(values: Sequence[float], seeds: int) -> str:
    if not values:
        return "undefined"
    return _spread(values) + (f" ({len(values)} seeds)" if len(values) < seeds else "")


def _spread(values: Sequence[float]) -> str:
    spread = f" +- {statistics.stdev(values):.3f}" if len(values) > 1 else ""
    return f"{statistics.fmean(values):.3f}{spread}"
