"""A workload that reporting has never heard of is told in its own words, by what its record holds."""

import io
import re

import pytest
from rich.console import Console

from support.made_third_run import KIND, VOCABULARY, whole_third_run
from wardround.cli.tables import print_summary
from wardround.reporting.page import render_page
from wardround.reporting.summary import summarise
from wardround.reporting.vocabularies import VOCABULARIES

OTHERS = r"dice|hd95|brats|tumor|voxel|region|image|label|risk|outcome|logistic|prevalence|brier|calibrat|positive"


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(VOCABULARIES, KIND, VOCABULARY)


def page(*, everything: bool = False) -> str:
    text = re.sub(r"<style>.*?</style>", "", render_page(summarise(whole_third_run(everything=everything))), flags=re.S)
    return re.sub(r"\s+", " ", re.sub(r"aria-[a-z]+=", "", text))


def console() -> str:
    stream = io.StringIO()
    print_summary(Console(file=stream, width=80), summarise(whole_third_run()))
    return stream.getvalue()


@pytest.mark.usefixtures("installed")
def test_its_page_is_in_its_own_words_and_in_no_other_workloads() -> None:
    text = page()
    for words in (
        "Kappa, all stages",
        "REM<small>Kappa",
        "no nights to score",
        "Recordings of nights stayed at each",
        "nights left out",
        "Seconds until a change of stage is seen",
        "arousals",
        "Simple model, own data",
    ):
        assert words in text
    assert re.findall(OTHERS, text, flags=re.I) == []


@pytest.mark.usefixtures("installed")
def test_its_console_tables_are_too() -> None:
    text = console()
    assert "Kappa, all stages, test cases" in text
    assert "clinic-a: 9, REM 7 of 9" in text
    assert re.findall(OTHERS, text, flags=re.I) == []


def test_a_kind_without_a_vocabulary_has_a_page_and_tables() -> None:
    assert "kappa rem" in page()
    assert "kappa all" in console()
    assert re.findall(OTHERS, page() + console(), flags=re.I) == []


@pytest.mark.usefixtures("installed")
def test_sections_are_there_for_what_the_record_holds() -> None:
    full, plain = page(everything=True), page()
    for heading in (
        "By cohort",
        "What alerts would cost",
        "Precision and recall",
        "Calibration before and after",
        "Pooled over hospitals",
        "Voxels pooled over hospitals",
        "Each dot is a group",
    ):
        assert heading in full
        assert heading not in plain
    assert "Can the probabilities be acted on?" in full
    assert "predicted probability" in full
    assert re.findall(r"\brisks?\b|dice|hd95|logistic|tumor", full, flags=re.I) == ["Dice"]  # over pooled voxels
