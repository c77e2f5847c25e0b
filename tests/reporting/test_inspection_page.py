"""The page that a site's admin opens: structure, escaping, and that nothing comes from elsewhere."""

import re
from html.parser import HTMLParser

import pytest

from wardround.records.faults import fault
from wardround.records.illustrations import Distribution, Illustrations, Picture
from wardround.records.inspection import Finding, Inspection, Severity
from wardround.records.reasons import Reason
from wardround.reporting.inspection_page import lay_out, render_inspections

AGES = Distribution(
    "age, years",
    ("20 to 50", "50 to 80"),
    {"train": (6, 2), "validation": (0, 0), "test": (1, 3)},
    {"train": 2, "validation": 0, "test": 0},
)


def _record(*findings: Finding, counts: dict[str, int] | None = None) -> Inspection:
    return Inspection(
        site="hospital-a",
        role="train",
        study="readmission",
        time="2026-11-30T09:00:00+00:00",
        counts={"train_cases": 1200} if counts is None else counts,
        findings=findings,
    )


def _finding(severity: Severity, row: int) -> Finding:
    told = fault(f"ward is '<b>{row}</b>'", file="t.csv", row=row, column="ward", expected="a & b", advice="correct it")
    return Finding.of(severity, Reason.VALUE_INVALID, told)


def test_a_page_has_counts_findings_charts_and_pictures_of_each_study() -> None:
    errors = [_finding(Severity.ERROR, row) for row in range(7)]
    drawn = Illustrations((AGES,), (Picture("P-1: t1c, label", b"\x89PNG"),))
    page = render_inspections([(_record(*errors), drawn), (_record(counts={}), Illustrations())])
    assert page.count("<h1>") == page.count('<div class="part">') == 2
    assert "2026-11-30 09:00:00 UTC" in page
    assert "Not fit for the study: 7 errors" in page
    assert "Fit for the study." in page
    assert "1,200" in page
    assert "value_invalid x 7, t.csv, column ward" in page
    assert "<summary>2 more</summary>" in page
    assert page.count("<rect class=") == 4  # two splits that have rows, two bins
    assert "data:image/png;base64,iVBORw==" in page
    assert "without a value: train 2 of 10<" in page


def test_values_of_patients_are_escaped_and_nothing_is_loaded_from_elsewhere() -> None:
    page = render_inspections([(_record(_finding(Severity.WARNING, 3)), Illustrations((AGES,)))])
    assert "<b>3</b>" not in page
    assert "&lt;b&gt;3&lt;/b&gt;" in page
    assert "a &amp; b" in page
    assert not re.search(r"<script|src=\"(?!data:)|href=|url\(|@import", page)
    assert "for this hospital&#39;s own eyes" in page or "for this hospital's own eyes" in page
    assert _Balanced.of(page) == []


def test_keys_are_code_and_paths_may_be_broken_after_a_folder() -> None:
    told = fault("no t2f", file="/srv/<images>/P-1", expected="`t2f`", advice="list it in `allow_<missing>`")
    page = render_inspections([(_record(Finding.of(Severity.NOTE, Reason.SEQUENCE_MISSING, told)), Illustrations())])
    assert "<li>no t2f</li>" in page
    assert "<td><code>t2f</code></td><td>list it in <code>allow_&lt;missing&gt;</code></td>" in page
    several = [told.model_copy(update={"where": told.where.model_copy(update={"file": f"/srv/{n}"})}) for n in "ab"]
    findings = [Finding.of(Severity.NOTE, Reason.SEQUENCE_MISSING, one) for one in several]
    assert "<li>/srv/<wbr>a: no t2f</li>" in render_inspections([(_record(*findings), Illustrations())])


def test_bars_are_shares_of_a_splits_rows() -> None:
    chart = lay_out(AGES)
    widths = {(bar.split, bar.text.split(": ")[0].split(", ")[1]): bar.width for bar in chart.bars}
    assert widths[("test", "50 to 80")] == 300.0  # three quarters of its rows, the largest share
    assert widths[("train", "20 to 50")] == pytest.approx(300 * 0.6 / 0.75)
    assert lay_out(Distribution("empty", (), {"train": ()}, {"train": 0})).bars == []


class _Balanced(HTMLParser):
    """Which elements stay open, or are closed and were not."""

    VOID = frozenset({"meta", "img", "br", "wbr"})

    def __init__(self) -> None:
        super().__init__()
        self.stack: list[str] = []

    @classmethod
    def of(cls, page: str) -> list[str]:
        parser = cls()
        parser.feed(page)
        return parser.stack

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag
