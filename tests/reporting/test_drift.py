"""The report's section on drift: what stood out at which site, in which rounds."""

import re

import pytest

from support.made_run import TRAINING, round_line, whole_run
from wardround.records.run_lines import RoundLine, RunLine, ScoreLine
from wardround.reporting.drift import drift_by_site, rounds_text
from wardround.reporting.page import render_page
from wardround.reporting.summary import summarise

FLAGS = {0: [], 1: ["update_opposed"], 2: ["update_opposed", "key_figure_worse"], 3: []}


def _round(index: int) -> RoundLine:
    line = round_line(index)
    sites = {
        site: entry.model_copy(
            update={
                "cosine": 0.8 - 0.2 * index if site == TRAINING[2] else 0.5,
                "norm_ratio": 1 + 0.25 * index if site == TRAINING[2] else 1.0,
                "flags": FLAGS[index] if site == TRAINING[2] else [],
            }
        )
        for site, entry in line.sites.items()
    }
    return line.model_copy(update={"sites": sites})


def _run() -> list[RunLine]:
    return [_round(line.round) if isinstance(line, RoundLine) else line for line in whole_run()]


def _with_last(*flags: str) -> list[RunLine]:
    return [
        line.model_copy(update={"notes": ["statistics_re_measured", *flags]})
        if isinstance(line, ScoreLine) and (line.arm, line.split, line.site) == ("last", "validation", TRAINING[0])
        else line
        for line in _run()
    ]


def test_each_site_is_told_with_the_round_that_stood_out() -> None:
    *others, odd = drift_by_site(summarise(_run()))
    assert [(one.site, one.flags) for one in others] == [(site, {}) for site in TRAINING[:2]]
    assert (odd.lowest_cosine, odd.in_round) == (pytest.approx(0.2), 4)
    assert odd.norm_ratios == (1.0, 1.75)
    assert odd.flags == {"update_opposed": [2, 3], "key_figure_worse": [3]}


def test_the_page_says_it_in_words() -> None:
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", render_page(summarise(_run()))))
    assert "Rounds 2 to 3: its update pulls against those of the others, which agree." in text
    assert "1.00 to 1.75" in text


def test_the_last_model_is_told_too_though_no_round_began_with_it() -> None:
    first, *others = drift_by_site(summarise(_with_last("key_figure_worse")))
    assert (first.of_last, first.flags) == (["key_figure_worse"], {})
    assert [site.of_last for site in others] == [[], []]
    text = render_page(summarise(_with_last("key_figure_worse")))
    assert "Last model: the key figure on its validation cases got worse" in text
    assert "Last model: " not in render_page(summarise(_with_last()))


def test_a_record_from_before_has_no_such_section() -> None:
    assert drift_by_site(summarise(whole_run())) == []
    assert "Drift between rounds" not in render_page(summarise(whole_run()))


@pytest.mark.parametrize(
    ("rounds", "text"), [([3], "round 3"), ([1, 2], "rounds 1 to 2"), ([8, 3, 5, 6, 7], "rounds 3, 5 to 8")]
)
def test_rounds_are_told_shortly(rounds: list[int], text: str) -> None:
    assert rounds_text(rounds) == text
