"""One self-contained HTML page from a summary: no script, no font, no picture from elsewhere."""

from collections.abc import Sequence
from functools import partial

import yaml
from jinja2 import Environment, PackageLoader, StrictUndefined

from wardround.records.arms import ALONE, IN_READING_ORDER, LAST, is_alone
from wardround.records.metric_record import find
from wardround.records.notices import RESEARCH_USE
from wardround.reporting.answer import answer
from wardround.reporting.headline import gains
from wardround.reporting.model import Summary
from wardround.reporting.page_charts import forests, region_charts, site_charts
from wardround.reporting.pictures import EmbeddedPicture
from wardround.reporting.risk_page import ALERT_FIGURES, by_metric, goal_text, is_about_risk, risk_parts
from wardround.reporting.whereabouts import common_figures, counts_in_words, own_figures, where_the_data_was
from wardround.reporting.words import Words
from wardround.workloads.vocabulary import Family

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
    words = summary.words
    environment.filters.update(in_words=words.in_words, reason_in_words=words.reason_in_words)
    environment.globals.update(
        with_interval=words.with_interval,
        support_text=words.support_text,
        counts_in_words=counts_in_words,
        own_figures=partial(own_figures, words=words),
        measure=words.measure,
        arm_title=words.arm_title,
        in_words=words.in_words,
        is_alone=is_alone,
        find=find,
        listed_by_family=words.listed_by_family,
        goal_text=goal_text,
        by_metric=by_metric,
        alert_figures=ALERT_FIGURES,
        interval_text=words.interval_text,
    )
    names = _names_by_family(summary)
    hidden = [LAST] if summary.best_is_last() else []
    return environment.get_template("report.html.j2").render(
        summary=summary,
        answer=answer(summary),
        gains=gains(summary),
        whereabouts=where_the_data_was(
            summary, generated=generated or all(s.nature == "generated" for s in summary.sites)
        ),
        research_use=RESEARCH_USE,
        common_figures=common_figures(summary.sites, words),
        differing=any(own_figures(site, summary.sites, words) for site in summary.sites),
        hidden=hidden,
        names=names,
        noun=summary.sites_are(),
        vocabulary=words.vocabulary,
        families=[family for family in _families(names, words) if family.meaning],
        risk=risk_parts(summary) if is_about_risk(summary) else None,
        conventions=_split_by_value(summary, [name for family in _BESIDE for name in names.get(family, [])]),
        overall={(row.arm, row.metric): row for row in summary.overall},
        arms=[arm for arm in IN_READING_ORDER if arm not in hidden and _has(summary, arm)],
        site_charts=site_charts(summary),
        region_charts=region_charts(summary),
        forests=forests(summary),
        pictures=pictures,
        settings=yaml.safe_dump(summary.study.settings, sort_keys=False, allow_unicode=True),
    )


def _has(summary: Summary, arm: str) -> bool:
    return any(row.arm == arm or (arm == ALONE and row.at_home) for row in summary.table)


def _names_by_family(summary: Summary) -> dict[str, list[str]]:
    """Record names of the table by family key, each in reading order; the key metric's family comes first."""
    words = summary.words
    families: dict[str, list[str]] = {words.measure(summary.study.key_metric).family.key: []}
    for name in dict.fromkeys(name for row in summary.table for name in row.records):
        families.setdefault(words.measure(name).family.key, []).append(name)
    return {family: words.in_reading_order(names) for family, names in families.items() if names}


def _families(names: dict[str, list[str]], words: Words) -> list[Family]:
    return list(dict.fromkeys(words.measure(name).family for members in names.values() for name in members))


def _split_by_value(summary: Summary, names: list[str]) -> tuple[list[str], list[str]]:
    """Names with a value somewhere in the table, and names without any, which need no column."""
    valued = {name for row in summary.table for name, record in row.records.items() if record.value is not None}
    return [name for name in names if name in valued], [name for name in names if name not in valued]
