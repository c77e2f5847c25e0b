"""The card of a release says what must not be missed, and hides no figure's weakness."""

import pytest

from support.made_release import run_lines
from support.made_risk_run import whole_risk_run
from support.made_run import KEPT
from wardround.records.declared import DeclaredData
from wardround.records.run_lines import RunLine
from wardround.reporting.acceptance import check_criteria
from wardround.reporting.model_card import ModelCard, card_markdown, make_card
from wardround.reporting.run_manifest import make_manifest
from wardround.reporting.summary import summarise
from wardround.reporting.words import words_of


def card(lines: list[RunLine], *, approver: str = "Ada Approver", complete: bool = True) -> ModelCard:
    summary = summarise(lines)
    return make_card(
        summary,
        make_manifest(lines, {}),
        check_criteria(summary),
        version="v3",
        released="2026-01-02T00:00:00+00:00",
        approver=approver,
        weights_sha256="a" * 64,
        complete=complete,
    )


def text(made: ModelCard, kind: str = "brain_tumor") -> str:
    return card_markdown(made, words_of(kind)).replace("\N{NO-BREAK SPACE}", " ")


def test_it_says_first_that_it_is_no_diagnosis_and_who_answers_for_it() -> None:
    told = text(card(run_lines())).splitlines()
    assert told[0] == "# brain_tumor, release v3"
    assert told[2].startswith("**Not a diagnosis")
    assert "approved by Ada Approver" in told[4]
    assert "model after round 3 (`best`)" in told[4]
    assert "- Research use; not a medical device." in told


def test_figures_stand_by_site_with_counts_and_intervals() -> None:
    told = text(card(run_lines()))
    assert "### hospital-d (outside)" in told
    part = told.partition("### hospital-d")[2]
    assert "| Dice, mean of regions | 0.680 (0.650 to 0.710) | 8 |" in part
    assert "| Dice, enhancing tumor | 0.660 (0.630 to 0.690) | 6 |" in part


def test_cohorts_and_held_back_and_undefined_figures_are_told_with_their_reason() -> None:
    made = card(whole_risk_run())
    told = text(made, "clinical_risk")
    assert "| sex: male | AUROC |" in told
    assert "| sex: female | AUROC | \N{EN DASH} below the site's minimum cell | 0 |" in told
    outside = told.partition("### switzerland")[2]
    assert "| AUROC | \N{EN DASH} " in outside
    assert "*" in told.partition("### va")[2].partition("###")[0]
    limits = "\n".join(made.limits)
    assert "figures rest on too few cases to rank by" in limits
    assert "are held back" in limits
    assert "have no value" in limits


def test_the_outcome_of_a_table_is_named() -> None:
    assert "- The outcome is heart_disease: angiographic heart disease." in text(
        card(whole_risk_run()), "clinical_risk"
    )


@pytest.mark.parametrize(
    ("natures", "told"),
    [
        (["generated"] * 4, "All sites hold generated data"),
        (["generated", "hospital", "hospital", "hospital"], "Generated data, no patients: hospital-a."),
        (["hospital", "pseudo_site", "hospital", "hospital"], "stand for hospitals, and are none: hospital-b."),
    ],
)
def test_data_that_is_no_hospitals_is_a_limit(natures: list[str], told: str) -> None:
    lines = run_lines()
    sites = [site.model_copy(update={"nature": nature}) for site, nature in zip(lines[0].sites, natures, strict=True)]
    lines[0] = lines[0].model_copy(update={"sites": sites})
    assert told in "\n".join(card(lines).limits)


def test_an_untested_outside_a_missing_site_and_an_incomplete_model_are_limits() -> None:
    lines = run_lines()
    training = [site for site in lines[0].sites if site.role == "train"]
    lines = [line for line in lines if getattr(line, "site", "") != "hospital-d"]
    lines[0] = lines[0].model_copy(update={"sites": training, "missing": ["hospital-z"]})
    limits = "\n".join(card(lines, complete=False).limits)
    for told in (
        "at no site outside of training",
        "never took part: hospital-z",
        "wardround adapt",
        "The run is partial",
    ):
        assert told in limits
    assert KEPT  # a model of this kind is the incomplete one


def test_what_sites_declare_of_their_data_is_told() -> None:
    lines = run_lines()
    declared = DeclaredData(data_version="2026-03", label_definition="two_readers")
    sites = [site.model_copy(update={"declared": declared}) for site in lines[0].sites]
    lines[0] = lines[0].model_copy(update={"sites": sites})
    assert "| hospital-a | trains | hospital | train patients 6, test cases 8 | 0 | 2026-03 | two_readers |" in text(
        card(lines)
    )


def test_a_name_cannot_bring_markup_or_lines_into_the_card() -> None:
    told = text(card(run_lines(), approver="Ada\n# Diagnosis | <script>"))
    assert "approved by Ada # Diagnosis / (script)." in told


def test_the_card_comes_back_from_json() -> None:
    made = card(whole_risk_run())
    assert ModelCard.model_validate_json(made.model_dump_json()) == made
