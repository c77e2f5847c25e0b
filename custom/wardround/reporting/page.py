"""One self-contained HTML page from a summary: no script, no font, no picture from elsewhere."""

from collections.abc import Sequence
from functools import partial

import yaml

from wardround.records.arms import ALONE, IN_READING_ORDER, LAST, is_alone
from wardround.records.metric_record import find
from wardround.records.notices import RESEARCH_USE
from wardround.reporting.answer import answer
from wardround.reporting.drift import drift_by_site, rounds_text
from wardround.reporting.figure_tables import names_by_family
from wardround.reporting.headline import gains
from wardround.reporting.model import Summary
from wardround.reporting.page_charts import forests, region_charts, site_charts
from wardround.reporting.page_template import environment
from wardround.reporting.pictures import EmbeddedPicture
from wardround.reporting.resumptions import in_one_line
from wardround.reporting.sections import by_metric, goal_text, sections
from wardround.reporting.shared_monitoring import criteria_in_words, inputs_in_words
from wardround.reporting.whereabouts import common_figures, counts_in_words, own_figures, where_the_data_was
from wardround.workloads.vocabulary import Family


def render_page(summary: Summary, pictures: Sequence[EmbeddedPicture] = (), *, generated: bool = False) -> str:
    """The page as text; the same arguments give the same bytes. `generated`: no site holds a patient's data."""
    pages = environment()
    words = summary.words
    pages.filters.update(in_words=words.in_words, reason_in_words=words.reason_in_words)
    pages.globals.update(
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
        interval_text=words.interval_text,
        resumed=in_one_line,
        rounds_text=rounds_text,
        criteria_in_words=lambda look: criteria_in_words(look, words.title),
        inputs_in_words=inputs_in_words,
    )
    hidden = [LAST] if summary.best_is_last() else []
    return pages.get_template("report.html.j2").render(
        summary=summary,
        answer=answer(summary),
        gains=gains(summary),
        whereabouts=where_the_data_was(
            summary, generated=generated or all(s.nature == "generated" for s in summary.sites)
        ),
        research_use=RESEARCH_USE,
        common_figures=common_figures(summary.sites, words),
        differing=any(own_figures(site, summary.sites, words) for site in summary.sites),
        noun=summary.sites_are(),
        vocabulary=words.vocabulary,
        families=[family for family in _families(summary) if family.meaning],
        sections=sections(summary),
        drift=drift_by_site(summary),
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


def _families(summary: Summary) -> list[Family]:
    names = names_by_family(summary)
    return list(dict.fromkeys(summary.words.measure(name).family for members in names.values() for name in members))
