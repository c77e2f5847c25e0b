"""The page's charts: curves by round, and paired differences with their intervals."""

from dataclasses import dataclass

from wardround.records.arms import ALONE, BEST, LAST, POOLED, alone_at, is_alone
from wardround.reporting.charts import Forest, LineChart, forest, line_chart, values_of
from wardround.reporting.curves import FEDERATED
from wardround.reporting.measure import DASH
from wardround.reporting.model import Comparison, Curve, Summary
from wardround.reporting.words import Words

_OTHERS = "alone elsewhere"  # groups the other hospitals' own models at one hospital
_FIRST = ((BEST, ALONE), (BEST, _OTHERS))


@dataclass(frozen=True)
class TitledForest:
    """The differences between two arms, one row a site."""

    title: str
    forest: Forest


def site_charts(summary: Summary) -> list[LineChart]:
    """A panel a site: the federation's curve beside the site's own and the pooled one."""
    panels: list[tuple[str, list[tuple[str, str, Curve]]]] = []
    for site in summary.sites:
        lines = (
            (FEDERATED, "Federated", "federated"),
            (alone_at(site.name), "Alone", ALONE),
            (POOLED, "Pooled", POOLED),
        )
        series = [
            (label, style, curve)
            for arm, label, style in lines
            for curve in summary.curves
            if (curve.arm, curve.site, curve.metric) == (arm, site.name, summary.study.key_metric)
        ]
        if series:
            panels.append((site.label, series))
    scale = values_of(curve for _, series in panels for _, _, curve in series)
    return [line_chart(name, series, rounds=_rounds(summary), scale=scale) for name, series in panels]


def region_charts(summary: Summary) -> list[LineChart]:
    """A panel a region: the federation's curve at every site."""
    names = [site.name for site in summary.sites]
    metrics = summary.words.in_reading_order(list(dict.fromkeys(curve.metric for curve in summary.curves)))
    if len(metrics) > 1:  # the key metric has its panels by site already
        metrics = [metric for metric in metrics if metric != summary.study.key_metric]
    charts = []
    for metric in metrics:
        series = [
            (curve.site, f"c{names.index(curve.site) % 8}", curve)
            for curve in sorted(summary.curves, key=lambda curve: curve.site)
            if curve.arm == FEDERATED and curve.metric == metric and curve.site in names
        ]
        if series:
            charts.append(line_chart(summary.words.measure(metric).title, series, rounds=_rounds(summary)))
    return charts


def forests(summary: Summary) -> list[TitledForest]:
    """A forest for each pair of arms on the key metric: the answer first, then what pooling or fine-tuning would add.

    At an outside hospital, all hospitals' own models are one forest. Best and last are not compared where they are
    the same model.
    """
    groups: dict[tuple[str, str], list[Comparison]] = {}
    for row in summary.comparisons:
        if row.metric == summary.study.key_metric:
            groups.setdefault((row.arm, _reference_group(row)), []).append(row)
    if summary.best_is_last():
        groups.pop((BEST, LAST), None)
    pairs = sorted(groups, key=lambda pair: pair not in _FIRST)
    return [_titled(arm, reference, groups[arm, reference], summary) for arm, reference in pairs]


def _rounds(summary: Summary) -> int:
    return max((point.rounds for curve in summary.curves for point in curve.points), default=1)


def _titled(arm: str, reference: str, rows: list[Comparison], summary: Summary) -> TitledForest:
    label, arm_title = summary.label, summary.words.arm_title
    entries = [
        (
            f"{label(row.site)}, over {arm_title(row.reference)}" if reference == _OTHERS else label(row.site),
            row.verdict,
            difference_text(row, summary.words),
            row.difference.value,
            row.difference.interval,
        )
        for row in rows
    ]
    against = "other hospitals' own models" if reference == _OTHERS else _lower_first(arm_title(reference))
    return TitledForest(f"{arm_title(arm)} minus {against}", forest(entries))


def _reference_group(row: Comparison) -> str:
    if row.reference == alone_at(row.site):
        return ALONE
    return _OTHERS if is_alone(row.reference) else row.reference


def difference_text(row: Comparison, words: Words) -> str:
    """`+0.021 (−0.010 to +0.052), n 8`, or the reason why there is no figure."""
    found = words.measure(row.metric)
    if row.difference.value is None:
        return f"{DASH} {words.in_words(row.difference.reason or 'undefined')}"
    text = found.signed(row.difference.value)
    if row.difference.interval:
        low, high = row.difference.interval
        text += f" ({found.signed(low)} to {found.signed(high)})"
    return f"{text}, n {row.difference.n}"


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:] if not text[:2].isupper() else text
