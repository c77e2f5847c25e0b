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


def verdicts(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """A sentence a hospital and metric: which federated arms are better or worse than what it can do alone.

    Differences are paired by seed, so both arms see the same patients. An arm is better or worse only where all seeds
    agree and the mean difference exceeds its standard deviation over at least three seeds.
    """
    for site in _sites(outcomes):
        for metric in JUDGED:
            found: dict[str, list[str]] = {"better": [], "worse": []}
            compared = 0
            for reference in (ALONE, OWN_REGRESSION):
                for arm in FEDERATED:
                    differences = _differences(outcomes, arm, reference, site, metric)
                    compared += len(differences) >= FEWEST_SEEDS
                    if side := _side(differences):
                        found[side].append(f"{arm} against {reference} by {_spread([abs(d) for d in differences])}")
            if not compared:
                yield f"{site}, {metric}: defined on enough cases of both classes in too few seeds to compare anything."
            elif not any(found.values()):
                yield f"{site}, {metric}: federation does not help; all differences lie within the spread over seeds."
            else:
                better = "; ".join(found["better"]) or "nothing"
                worse = f" Federation is worse: {'; '.join(found['worse'])}." if found["worse"] else ""
                yield f"{site}, {metric}: federation is better beyond the spread over seeds: {better}.{worse}"


def _differences(outcomes: Sequence[Outcome], arm: str, reference: str, site: str, metric: str) -> list[float]:
    """Ours less theirs by seed, positive where ours is better."""
    sign = -1 if metric in LOWER_IS_BETTER else 1
    pairs = [(_value(o, arm, site, metric), _value(o, reference, site, metric)) for o in outcomes]
    return [sign * (ours - theirs) for ours, theirs in pairs if ours is not None and theirs is not None]


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
