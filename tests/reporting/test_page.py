"""The page stands alone, shows the record's figures and marks what is missing."""

import re
from pathlib import Path

import pytest

from support.made_run import KEPT, OUTSIDE, TRAINING, round_line, start, whole_run, without_value
from wardround.records.metric_record import Status
from wardround.records.notices import RESEARCH_USE
from wardround.records.run_lines import EndLine, RunLine, ScoreLine
from wardround.reporting.page import render_page
from wardround.reporting.pictures import EmbeddedPicture, PictureSource, embed_pictures
from wardround.reporting.summary import summarise


def page(lines: list[RunLine], pictures: tuple[EmbeddedPicture, ...] = ()) -> str:
    return render_page(summarise(lines), pictures)


def test_page_refers_to_nothing_outside_itself() -> None:
    picture = EmbeddedPicture("hospital-a", "case-1", "data:image/png;base64,AAAA")
    text = page(whole_run(), (picture,))
    assert "http" not in text
    assert "<script" not in text
    assert "@import" not in text
    assert "url(" not in text
    assert "<link" not in text
    assert re.findall(r'(?:src|href)="([^"]*)"', text) == ["data:image/png;base64,AAAA"]


def test_page_prints_the_figures_intervals_and_sites() -> None:
    text = page(whole_run())
    for figure in ("0.820", "0.740", "0.850", "0.680", "0.803", "+0.020", "+0.004 to +0.041", "hospital-b 0.740"):
        assert figure.replace("-", "\N{MINUS SIGN}") in text or figure in text
    for site in (*TRAINING, OUTSIDE):
        assert site in text
    assert "no gain shown" in text
    assert "BraTS convention" in text
    assert "2.4" in text  # HD95
    assert text.count("<polyline") > 10


@pytest.mark.parametrize(("status", "word"), [(Status.UNDEFINED, "undefined"), (Status.SUPPRESSED, "suppressed")])
def test_missing_figure_is_a_dash_with_its_reason(status: Status, word: str) -> None:
    text = page(without_value(whole_run(), "best", "hospital-b", "dice_et", status, "few_cases"))
    assert f"{word}: few cases" in text


def test_partial_run_says_so_first() -> None:
    lines = [*whole_run()[:-1], EndLine(status="partial", reasons=["hospital-b: metrics_missing"])]
    text = page(lines)
    assert "This run is partial" in text
    assert "hospital-b: returned no metrics" in text


def test_rejected_late_and_kept_entries_are_shown() -> None:
    lines = whole_run(KEPT)
    lines[1] = round_line(0, contributed=["hospital-a"], rejected={"hospital-b": "not_finite"}, late=["hospital-c"])
    text = page(lines)
    assert "hospital-b rejected: sent a value that is NaN or infinite" in text
    assert "hospital-c late" in text
    assert KEPT[0] in text


def test_failed_run_without_scores_still_has_a_page() -> None:
    text = page([start(), EndLine(status="failed", reasons=["quorum_not_met"])])
    assert "This run is failed" in text
    assert "fewer accepted contributions than the quorum" in text


def test_page_tells_what_left_in_few_words() -> None:
    text = page(whole_run())
    assert text.count("Dice (WT, TC, ET, mean)") == 1  # once, not once a hospital
    assert "sums for pooling: Voxel counts (WT)" in text


def test_page_tells_warnings_and_sums_of_a_round_that_a_site_held_back() -> None:
    lines = whole_run()
    doubts = {"doubts": {"label_empty": 6}, "banded_doubts": {"volume_duplicated": (1, 4)}}
    lines[0] = lines[0].model_copy(update={"sites": [lines[0].sites[0].model_copy(update=doubts), *lines[0].sites[1:]]})
    held = lines[2].sites["hospital-a"].model_copy(update={"suppressed": ["voxels_et"]})
    lines[2] = lines[2].model_copy(update={"sites": {**lines[2].sites, "hospital-a": held}})
    text = page(lines)
    assert "further warnings: 6 " in text
    assert ", 1 to 4 " in text
    assert "sums for pooling held back: Voxel counts (ET)" in text
    assert "further warnings" not in page(whole_run())
    assert "sums for pooling held back" not in page(whole_run())


def test_what_is_kept_everywhere_is_told_as_a_choice_that_this_run_does_not_test() -> None:
    limit = "this run has no model without it: whether it helps at one hospital shows only beside"
    assert limit in page(whole_run(KEPT))
    assert limit not in page(whole_run())


def test_names_are_escaped() -> None:
    lines = whole_run()
    lines[0] = lines[0].model_copy(update={"run": "<script>alert(1)</script>"})
    assert "<script>" not in page(lines)


def test_same_record_same_bytes() -> None:
    assert page(whole_run()) == page(whole_run())


def test_only_generated_data_gives_pictures(tmp_path: Path) -> None:
    for site in ("made", "real"):
        (tmp_path / site).mkdir()
        (tmp_path / site / "case-1.png").write_bytes(b"\x89PNG")
    sources = [PictureSource("made", tmp_path / "made", True), PictureSource("real", tmp_path / "real", False)]
    assert [picture.site for picture in embed_pictures(sources)] == ["made"]


@pytest.mark.parametrize(
    ("environment", "generated", "told", "untold"),
    [
        ("sim", True, ["Generated data, no patient. All hospitals were simulated on one machine"], ["stayed at each"]),
        ("poc", False, ["ran as separate processes on one machine"], ["stayed at each", "Generated data"]),
        (
            "prod",
            False,
            ["Images, labels, file names and lists of figures by case stayed at each hospital"],
            ["one machine", "Generated data"],
        ),
    ],
)
def test_page_says_where_the_data_was(environment: str, generated: bool, told: list[str], untold: list[str]) -> None:
    lines = whole_run()
    lines[0] = lines[0].model_copy(update={"environment": environment})
    text = render_page(summarise(lines), generated=generated)
    assert all(words in text for words in [*told, "read all hospitals&#39; data in one place", RESEARCH_USE])
    assert not any(words in text for words in untold)


def test_an_outside_hospital_lends_volumes_and_trains_nothing() -> None:
    lines = whole_run()
    outside = lines[0].sites[-1].model_copy(update={"counts": {"train_patients": 5, "train_cases": 6, "test_cases": 8}})
    lines[0] = lines[0].model_copy(update={"sites": [*lines[0].sites[:-1], outside]})
    text = page(lines)
    assert "test cases 8, unlabelled cases for statistics 6" in text
    assert "train patients 5" not in text


def test_one_model_that_is_best_and_last_has_one_row() -> None:
    lines = [*whole_run()[:-1], EndLine(status="complete", best_round=4, last_round=4)]
    assert "Federated, last round" in page(whole_run())
    assert "Federated, last round" not in page(lines)
    assert "both are one model" in page(lines)


def test_fine_tuning_that_was_not_kept_is_no_figure_of_its_own() -> None:
    lines = [
        line.model_copy(update={"notes": ["fine_tuning_not_kept"]})
        if isinstance(line, ScoreLine) and (line.arm, line.site) == ("personalised", "hospital-b")
        else line
        for line in whole_run()
    ]
    assert page(lines).count("not kept") == 2  # the card and the table by arm
    assert "not kept" not in page(whole_run())
