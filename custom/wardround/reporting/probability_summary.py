"""Pooled figures and diagrams of predicted probabilities, from the sums and bins sent with the test scores."""

from collections.abc import Iterator, Mapping, Sequence

from wardround.metrics.pooled_ranking import pooled_ranking, precision_recall_curve
from wardround.metrics.reliability import SQUARED_ERROR, pooled_brier, reliability
from wardround.metrics.score_bins import SCORE_BINS
from wardround.records.arms import ALONE, PERSONALISED, RECALIBRATED, REFERENCE, alone_at, is_alone
from wardround.records.metric_record import BELOW_MINIMUM_CELL
from wardround.records.run_lines import ScoreLine
from wardround.records.scores import Tally
from wardround.reporting.probability_parts import PooledFigure, PrecisionRecall, Reliability, ReliabilityPoint

ONE_CLASS = "one_class"
_AT_TRAINING_SITES = (ALONE, PERSONALISED, RECALIBRATED, REFERENCE)


def pooled_figures(scores: Sequence[ScoreLine], roles: Mapping[str, str]) -> list[PooledFigure]:
    """AUROC, AUPRC and Brier score of each arm over the test cases of all sites at which it has a model.

    `missing` names a site that sent no scores, and one whose rules held its sums or bins back.

    Args:
        scores: of the run.
        roles: every enrolled site to `train` or `evaluate`.
    """
    figures: list[PooledFigure] = []
    for arm, lines in _by_arm(scores).items():
        if any(tally.name == SQUARED_ERROR for line in lines for tally in line.tallies):
            asked = {site for site, role in roles.items() if role == "train" or arm not in _AT_TRAINING_SITES}
            figures += [*_ranking(arm, lines, asked), _brier(arm, lines, asked)]
    return figures


def reliabilities(scores: Sequence[ScoreLine]) -> list[Reliability]:
    """A reliability diagram for each arm at each site that sent its bins."""
    return [
        Reliability(
            arm=arm,
            site=site,
            points=[
                ReliabilityPoint(predicted=point.probability, observed=point.observed, n=point.n)
                for point in reliability([tally])
            ],
        )
        for arm, site, tally in _bins(scores)
    ]


def precision_recalls(scores: Sequence[ScoreLine]) -> list[PrecisionRecall]:
    """A precision-recall curve for each arm at each site that sent its bins, and has both classes."""
    return [
        PrecisionRecall(arm=arm, site=site, prevalence=points[-1][1], points=points)
        for arm, site, tally in _bins(scores)
        if (points := precision_recall_curve(tally))
    ]


def _ranking(arm: str, lines: list[ScoreLine], asked: set[str]) -> Iterator[PooledFigure]:
    tallies = _tallies(lines, SCORE_BINS)
    found = pooled_ranking(tallies) if tallies else None
    for metric in ("auroc", "auprc"):
        bounded = getattr(found, metric) if found else None
        within = found.within_site_auroc if found and metric == "auroc" else None
        yield PooledFigure(
            arm=arm,
            metric=metric,
            value=bounded.value if bounded else None,
            low=bounded.low if bounded else None,
            high=bounded.high if bounded else None,
            within_site=within.value if within else None,
            n=found.n if found else 0,
            n_positive=found.n_positive if found else None,
            sites=sorted(tallies),
            missing=sorted(asked - set(tallies)),
            reason=None if bounded else ONE_CLASS if found else BELOW_MINIMUM_CELL,
        )


def _brier(arm: str, lines: list[ScoreLine], asked: set[str]) -> PooledFigure:
    tallies = _tallies(lines, SQUARED_ERROR)
    value = pooled_brier(tallies.values())
    return PooledFigure(
        arm=arm,
        metric="brier",
        value=value,
        low=value,
        high=value,
        n=sum(tally.n for tally in tallies.values()),
        n_positive=None,
        sites=sorted(tallies),
        missing=sorted(asked - set(tallies)),
    )


def _by_arm(scores: Sequence[ScoreLine]) -> dict[str, list[ScoreLine]]:
    """Test lines by arm; `alone` is each hospital's own model at home, and other hospitals' models are left out."""
    arms: dict[str, list[ScoreLine]] = {}
    for line in scores:
        arm = ALONE if line.arm == alone_at(line.site) else line.arm
        if line.split == "test" and not is_alone(arm):
            arms.setdefault(arm, []).append(line)
    return arms


def _bins(scores: Sequence[ScoreLine]) -> Iterator[tuple[str, str, Tally]]:
    for arm, lines in _by_arm(scores).items():
        for site, tally in _tallies(lines, SCORE_BINS).items():
            yield arm, site, tally


def _tallies(lines: list[ScoreLine], name: str) -> dict[str, Tally]:
    return {line.site: tally for line in lines for tally in line.tallies if tally.name == name}
