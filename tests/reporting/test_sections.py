"""A page about risks shows prevalence beside AUPRC, calibration, alerts and cohorts, and marks what is no hospital."""

import html
import re

from support.made_risk_run import OUTSIDE, whole_risk_run
from support.made_run import whole_run
from wardround.records.run_lines import StartLine
from wardround.reporting.answer import answer
from wardround.reporting.headline import gains
from wardround.reporting.measure import MINUS
from wardround.reporting.page import render_page
from wardround.reporting.summary import summarise


def page() -> str:
    return re.sub(r"\s+", " ", render_page(summarise(whole_risk_run())))


def cells(text: str) -> list[list[str]]:
    """Every table row as its cells' words."""
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", text)
    words = [[" ".join(re.sub(r"<[^>]+>", " ", cell).split()) for cell in re.split(r"</t[hd]>", row)] for row in rows]
    return [[html.unescape(cell) for cell in row] for row in words]


def test_lower_is_better_where_the_study_says_so() -> None:
    summary = summarise(whole_risk_run())
    assert [gain.verdict for gain in gains(summary)] == ["better", "not_shown", "worse", "outside"]
    text = answer(summary)
    assert "cleveland does better" in text
    assert f"{MINUS}0.010" in text
    assert "Brier score: lower is better." in text
    worst = next(row for row in summary.overall if (row.arm, row.metric) == ("best", "brier"))
    assert worst.worst_site == "va"


def test_low_support_and_one_class_are_never_ranked() -> None:
    summary = summarise(whole_risk_run())
    row = next(row for row in summary.overall if (row.arm, row.metric) == ("best", "auroc"))
    assert row.left_out == {"va": "fewer_than_10_positives"}
    assert "undefined: only one outcome occurs, so it has no value" in page()


def test_a_pseudo_site_is_marked_wherever_it_could_pass_for_a_hospital() -> None:
    summary = summarise(whole_risk_run())
    assert "va (pseudo-site)" in answer(summary)
    assert "cleveland (pseudo-site)" not in answer(summary)
    text = page()
    assert "No hospitals: va, which are pseudo-sites" in text
    assert "what each site gained" in text
    # in its card, the figures, calibration and alerts
    assert len(re.findall(r'<span class="tag mark">pseudo-site</span>', text)) >= 4
    assert "what each hospital gained" in render_page(summarise(whole_run()))


def test_pseudo_sites_alone_are_no_hospitals() -> None:
    lines = whole_risk_run()
    assert isinstance(lines[0], StartLine)
    sites = [site.model_copy(update={"nature": "pseudo_site"}) for site in lines[0].sites]
    text = render_page(summarise([lines[0].model_copy(update={"sites": sites}), *lines[1:]]))
    assert "No hospital took part" in text
    assert "what each pseudo-site gained" in text
    assert "All pseudo-sites were simulated" in text


def test_auprc_stands_beside_prevalence_with_counts_and_intervals() -> None:
    table = page().partition("Every figure by")[2]
    row = next(row for row in cells(table) if row[0].startswith("Federated, best round"))
    assert row[1:4] == ["0.820 0.790 to 0.850", "0.790 0.760 to 0.820", "0.450 0.420 to 0.480"]
    assert row[7].split() == ["80", "36"]


def test_a_step_that_was_not_kept_has_no_figures_of_its_own() -> None:
    rows = [row for row in cells(page()) if row[0].startswith("Federated, with the site's own recalibration")]
    assert any("not kept: the model stays as it was before this step" in " ".join(row) for row in rows)
    assert any("0.133" in " ".join(row) for row in rows)


def test_alerts_say_what_each_goal_costs_or_why_there_is_none() -> None:
    text = page()
    assert "What alerts would cost" in text
    row = next(row for row in cells(text) if row[0] == "sensitivity 80 %")
    assert row[1:3] == ["0.3700", "0.810 0.710 to 0.910 n 29 of 36"]
    assert "no threshold: no threshold reaches the target on validation" in text


def test_a_suppressed_cohort_is_told_in_words() -> None:
    row = next(row for row in cells(page()) if row[0] == "sex: female")
    assert "suppressed: below the site's minimum cell" in row[1]
    assert not re.search(r"\d", row[1])


def test_the_outcome_and_the_sums_that_left_are_named() -> None:
    text = page()
    assert "Outcome: angiographic heart disease (heart disease), present at the index date" in text
    assert "Sums by column (age)" in text
    assert "suppressed, below the minimum cell: Sums by column (chol)" in text


def test_imaging_sections_stay_with_imaging() -> None:
    text = page()
    for words in ("BraTS", "voxel", "whose label holds the region", "by part", "Images and labels", "Whole tumor"):
        assert words not in text
    assert "What alerts would cost" not in render_page(summarise(whole_run()))
    assert OUTSIDE in text
