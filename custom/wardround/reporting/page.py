"""One self-contained HTML page from a summary: no script, no font, no picture from elsewhere."""

from collections.abc import Sequence
from dataclasses import dataclass

import yaml
from jinja2 import Environment, PackageLoader, StrictUndefined

from wardround.records.arms import POOLED, alone_at, is_alone
from wardround.records.notices import RESEARCH_USE
from wardround.reporting.answer import answer
from wardround.reporting.charts import Forest, LineChart, forest, line_chart, values_of
from wardround.reporting.curves import FEDERATED
from wardround.reporting.headline import gains
from wardround.reporting.model import Comparison, Curve, Summary
from wardround.reporting.pictures import EmbeddedPicture
from wardround.reporting.vocabulary import (
    DASH,
    arm_title,
    in_reading_order,
    in_words,
    measure,
    reason_in_words,
    support_text,
    with_interval,
)
from wardround.reporting.whereabouts import common_figures, counts_in_words, own_figures, where_the_data_was

_OTHERS = "alone elsewhere"  # groups the other hospitals' own models at one hospital
_FIRST = (("best", "alone"), ("best", _OTHERS))
_BESIDE = ("brats_dice", "brats_hd95", "false_positive_volume")  # families shown beside the main ones


def render_page(summary: Summary, pictures: Sequence[EmbeddedPicture] = (), *, generated: bool = False) -> str:
    """The page as text; the same arguments give the same bytes. `generated`: no site holds a patient's data."""
    environment = Environment(
        loader=PackageLoader("wardround.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(in_words=in_words, reason_in_words=reason_in_words)
    environment.globals.update(
        with_interval=with_interval,
        support_text=support_text,
        counts_in_words=counts_in_words,
        own_figures=own_figures,
        measure=measure,
        arm_title=arm_title,
        in_words=in_words,
    )
    names = _names_by_family(summary)
    hidden = ["last"] if summary.best_is_last() else []
    return environment.get_template("report.html.j2").render(
        summary=summary,
        answer=answer(summary),
        gains=gains(summary),
        whereabouts=where_the_data_was(summary, generated=generated),
        research_use=RESEARCH_USE,
        common_figures=common_figures(summary.sites),
        differing=any(own_figures(site, summary.sites) for site in summary.sites),
        hidden=hidden,
        names=names,
        conventions=_split_by_value(summary, [name for family in _BESIDE for name in names.get(family, [])]),
        overall={(row.arm, row.metric): row for row in summary.overall},
        arms=[
            arm
            for arm in ("best", "last", "personalised", "alone", "pooled")
            if arm not in hidden and _has(summary, arm)
        ],
        site_charts=_site_charts(summary),
        region_charts=_region_charts(summary),
        forests=_forests(summary),
        pictures=pictures,
        settings=yaml.safe_dump(summary.study.settings, sort_keys=False, allow_unicode=True),
    )


@dataclass(frozen=True)
class TitledForest:
    """The differences between two arms, one row a site."""

    title: str
    forest: Forest


def _has(summary: Summary, arm: str) -> bool:
    return any(row.arm == arm or (arm == "alone" and row.at_home) for row in summary.table)


def _names_by_family(summary: Summary) -> dict[str, list[str]]:
    """Record names of the table by family key, each in reading order; the key metric's family comes first."""
    families: dict[str, list[str]] = {measure(summary.study.key_metric).family.key: []}
    for name in dict.fromkeys(name for row in summary.table for name in row.records):
        families.setdefault(measure(name).family.key, []).append(name)
    return {family: in_reading_order(names) for family, names in families.items() if names}


def _split_by_value(summary: Summary, names: list[str]) -> tuple[list[str], list[str]]:
    """Names with a value somewhere in the table, and names without any, which need no column."""
    valued = {name for row in summary.table for name, record in row.records.items() if record.value is not None}
    return [name for name in names if name in valued], [name for name in names if name not in valued]


def _rounds(summary: Summary) -> int:
    return max((point.rounds for curve in summary.curves for point in curve.points), default=1)


def _site_charts(summary: Summary) -> list[LineChart]:
    """A panel a site: the federation's curve beside the site's own and the pooled one."""
    panels: list[tuple[str, list[tuple[str, str, Curve]]]] = []
    for site in summary.sites:
        lines = (
            (FEDERATED, "Federated", "federated"),
            (alone_at(site.name), "Alone", "alone"),
            (POOLED, "Pooled", "pooled"),
        )
        series = [
            (label, style, curve)
            for arm, label, style in lines
            for curve in summary.curves
            if (curve.arm, curve.site, curve.metric) == (arm, site.name, summary.study.key_metric)
        ]
        if series:
            panels.append((site.name, series))
    scale = values_of(curve for _, series in panels for _, _, curve in series)
    return [line_chart(name, series, rounds=_rounds(summary), scale=scale) for name, series in panels]


def _region_charts(summary: Summary) -> list[LineChart]:
    """A panel a region: the federation's curve at every site."""
    names = [site.name for site in summary.sites]
    metrics = in_reading_order(list(dict.fromkeys(curve.metric for curve in summary.curves)))
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
            charts.append(line_chart(measure(metric).title, series, rounds=_rounds(summary)))
    return charts


def _forests(summary: Summary) -> list[TitledForest]:
    """A forest for each pair of arms on the key metric: the answer first, then what pooling or fine-tuning would add.

    At an outside hospital, all hospitals' own models are one forest. Best and last are not compared where they are
    the same model.
    """
    groups: dict[tuple[str, str], list[Comparison]] = {}
    for row in summary.comparisons:
        if row.metric == summary.study.key_metric:
            groups.setdefault((row.arm, _reference_group(row)), []).append(row)
    if summary.best_is_last():
        groups.pop(("best", "last"), None)
    pairs = sorted(groups, key=lambda pair: pair not in _FIRST)
    return [_titled(arm, reference, groups[arm, reference]) for arm, reference in pairs]


def _titled(arm: str, reference: str, rows: list[Comparison]) -> TitledForest:
    entries = [
        (
            f"{row.site}, over {arm_title(row.reference)}" if reference == _OTHERS else row.site,
            row.verdict,
            difference_text(row),
            row.difference.value,
            row.difference.interval,
        )
        for row in rows
    ]
    against = "other hospitals' own models" if reference == _OTHERS else _lower_first(arm_title(reference))
    return TitledForest(f"{arm_title(arm)} minus {against}", forest(entries))


def _reference_group(row: Comparison) -> str:
    if row.reference == alone_at(row.site):
        return "alone"
    return _OTHERS if is_alone(row.reference) else row.reference


def difference_text(row: Comparison) -> str:
    """`+0.021 (−0.010 to +0.052), n 8`, or the reason why there is no figure."""
    kind = measure(row.metric)
    if row.difference.value is None:
        return f"{DASH} {in_words(row.difference.reason or 'undefined')}"
    text = kind.signed(row.difference.value)
    if row.difference.interval:
        low, high = row.difference.interval
        text += f" ({kind.signed(low)} to {kind.signed(high)})"
    return f"{text}, n {row.difference.n}"


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:] if not text[:2].isupper() else text
