"""What hospitals told of a released model: in words, and in the report."""

import pytest

from support.looks import a_look
from support.made_run import TRAINING, whole_run
from wardround.records.run_lines import ResumeLine, RunLine
from wardround.records.shared_monitoring import SharedMonitoring
from wardround.reporting.page import render_page
from wardround.reporting.shared_monitoring import look_in_words
from wardround.reporting.summary import summarise

LOOK = a_look("brain_tumor", criteria=[{"metric": "dice_mean", "met": False}])


def _lines(look: SharedMonitoring | None) -> list[RunLine]:
    start, *rest = whole_run()
    first, *others = start.sites
    return [start.model_copy(update={"sites": [first.model_copy(update={"monitoring": look}), *others]}), *rest]


@pytest.mark.parametrize(
    ("changes", "told", "stands_out"),
    [
        ({}, "no longer met: Brier; inputs: 1 moved much, 1 moved moderately, 2 stable", True),
        (
            {"criteria": [{"metric": "auroc", "met": None}, {"metric": "brier", "met": True}], "inputs": {}},
            "cannot be told: Auroc; met: Brier; inputs: none compared",
            False,
        ),
        ({"criteria": [], "inputs": {"stable": 3}}, "no criterion that a site can check; inputs: 3 stable", False),
        ({"criteria": [], "inputs": {"moderate": 1}}, "no criterion that a site can check; inputs: 1 moved mode", True),
        (
            {"criteria": [], "inputs": {"too_few": 2, "not_comparable": 1}},
            "inputs: 2 moved over too few patients to tell, 1 cannot be compared",
            False,
        ),
    ],
)
def test_a_look_is_told_with_what_stands_out_first(changes: dict, told: str, stands_out: bool) -> None:
    look = a_look("risk", **changes)
    text = look_in_words(look, str.capitalize)
    assert text.startswith("v2 on 53 cases of 40 patients, 2030-01-31; ")
    assert told in text
    assert look.stands_out is stands_out


def test_the_report_has_a_row_a_hospital_that_shared_one_and_no_section_without() -> None:
    text = render_page(summarise(_lines(LOOK)))
    section = text[text.index("Drift between runs") : text.index("What left each hospital")]
    assert section.count('<th scope="row">') == 1
    for part in (
        TRAINING[0], "look into it", "v2", "c0ffee00c0ff", "2030-01-31", "53 cases of 40 patients",
        "no longer met: Dice, mean of regions", "1 moved much, 1 moved moderately, 2 stable",
    ):  # fmt: skip
        assert part in section, part
    assert "Drift between runs" not in render_page(summarise(_lines(None)))
    fine = a_look("brain_tumor", criteria=[{"metric": "dice_mean", "met": True}], inputs={"stable": 4})
    assert "look into it" not in render_page(summarise(_lines(fine)))


@pytest.mark.parametrize("later", [None, a_look("brain_tumor", version="v3")])
def test_a_run_that_went_on_tells_the_newest_look(later: SharedMonitoring | None) -> None:
    start, *rest = _lines(LOOK)
    first, *others = start.sites
    again = [first.model_copy(update={"monitoring": later}), *others]
    resumed = ResumeLine(time="2026-01-01T13:00:00+00:00", round=1, because="stopped", sites=again)
    facts = summarise([start, rest[0], resumed, *rest[1:]]).sites
    assert facts[0].monitoring == (later or LOOK)
