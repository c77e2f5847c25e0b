"""Pooled figures and diagrams of a report are what the sums and bins in the record give, and say whose are missing."""

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

from support.made_risk_run import OUTSIDE, SITES, whole_risk_run
from wardround.metrics.labelled_rows import LabelledRows, labelled_rows
from wardround.metrics.reliability import squared_error
from wardround.metrics.score_bins import score_bins
from wardround.records.run_lines import RunLine, ScoreLine
from wardround.reporting.model import Summary
from wardround.reporting.page import render_page
from wardround.reporting.summary import summarise

ALL = (*SITES, OUTSIDE)


def rows_at(site: str) -> LabelledRows:
    generator = np.random.default_rng(ALL.index(site))
    logits = generator.normal(-1, 1.2, 300)
    probabilities = 1 / (1 + np.exp(-logits))
    return labelled_rows(probabilities, (generator.random(300) < probabilities).astype(int))


def with_tallies(lines: list[RunLine], *, without: str = "") -> list[RunLine]:
    """The run, its test lines with the tallies of some rows; `without` held its bins back, and its sum too."""

    def one(line: RunLine) -> RunLine:
        if not isinstance(line, ScoreLine) or line.split != "test" or line.site == without:
            return line
        found = (make(rows_at(line.site), minimum_cell=5) for make in (score_bins, squared_error))
        return line.model_copy(update={"tallies": [tally for tally in found if tally]})

    return [one(line) for line in lines]


@pytest.fixture(scope="module")
def summary() -> Summary:
    return summarise(with_tallies(whole_risk_run(), without=SITES[0]))


def test_the_pooled_brier_score_is_exact_and_ranking_lies_in_its_bound(summary: Summary) -> None:
    best = {figure.metric: figure for figure in summary.pooled_figures if figure.arm == "best"}
    told = [rows_at(site) for site in ALL[1:]]
    labels, risks = np.concatenate([r.labels for r in told]), np.concatenate([r.probabilities for r in told])
    assert best["brier"].value == pytest.approx(brier_score_loss(labels, risks))
    assert best["auroc"].value is not None
    assert best["auroc"].low is not None
    assert best["auroc"].low < best["auroc"].value
    assert (best["auroc"].n, best["auroc"].n_positive) == (labels.size, labels.sum())
    assert best["auroc"].within_site is not None


def test_a_site_that_held_its_sums_back_is_named(summary: Summary) -> None:
    assert {tuple(figure.missing) for figure in summary.pooled_figures if figure.arm == "best"} == {(SITES[0],)}
    assert f"AUROC: {SITES[0]}" in " ".join(render_page(summary).split())


def test_diagrams_hold_each_site_that_sent_its_bins(summary: Summary) -> None:
    assert {one.site for one in summary.reliability if one.arm == "best"} == set(ALL[1:])
    assert {one.site for one in summary.precision_recall if one.arm == "best"} == set(ALL[1:])
    for one in summary.reliability:
        assert sum(point.n for point in one.points) == 300
    for one in summary.precision_recall:
        assert one.prevalence == pytest.approx(rows_at(one.site).labels.mean())


def test_the_page_has_every_section_of_a_risk_study(summary: Summary) -> None:
    text = render_page(summary)
    for heading in (
        "Every figure by",
        "Precision and recall",
        "Can the risks be acted on?",
        "What alerts would cost",
        "By cohort",
        "Pooled over",
        "Logistic regression, own data",
    ):
        assert heading in text
    assert text.count("<polyline") > 10


def test_without_sums_there_are_no_pooled_figures() -> None:
    plain = summarise(whole_risk_run())
    assert (plain.pooled_figures, plain.reliability, plain.precision_recall) == ([], [], [])
    assert "Pooled over" not in render_page(plain)


def test_a_site_that_sent_no_scores_is_named_too() -> None:
    lines = [line for line in with_tallies(whole_risk_run()) if getattr(line, "site", "") != SITES[1]]
    figures = summarise(lines).pooled_figures
    assert {tuple(figure.missing) for figure in figures if figure.arm == "best"} == {(SITES[1],)}
