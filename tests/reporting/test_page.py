"""The page stands alone, shows the record's figures and marks what is missing."""

import re
from pathlib import Path

import pytest

from support.made_run import KEPT, OUTSIDE, TRAINING, round_line, start, whole_run, without_value
from wardround.records.metric_record import Status
from wardround.records.run_lines import EndLine, RunLine
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
def test_missing_figure_is_a_dash_with_its_reason_f28(status: Status, word: str) -> None:
    text = page(without_value(whole_run(), "best", "hospital-b", "dice_et", status, "few_cases"))
    assert f"{word}: few cases" in text


def test_partial_run_says_so_first_f1() -> None:
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


def test_failed_run_without_scores_still_has_a_page_f10() -> None:
    text = page([start(), EndLine(status="failed", reasons=["quorum_not_met"])])
    assert "This run is failed" in text
    assert "fewer accepted contributions than the quorum" in text


def test_page_tells_what_left_in_few_words() -> None:
    text = page(whole_run())
    assert "Dice (WT, TC, ET, mean)" in text
    assert "sums for pooling: Voxel counts (WT)" in text


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
