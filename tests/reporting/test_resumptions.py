"""A run that went on in a new job, in the report and the manifest."""

from support.made_run import round_line, start, whole_run
from wardround.records.resumption import Resumption, joins, resumptions
from wardround.records.run_lines import EndLine, JoinLine, ResumeLine
from wardround.reporting.page import render_page
from wardround.reporting.resumptions import in_one_line
from wardround.reporting.run_manifest import make_manifest
from wardround.reporting.summary import summarise

GOES_ON = ResumeLine(
    time="2026-01-02T08:30:00+00:00",
    round=2,
    because="it failed: round 3: 1 sites of a quorum of 3",
    sites=[],
    left_out=["hospital-c"],
    changed={"federation.quorum": (3, 2)},
)
TOLD = (
    "Resumed at round 3, 2026-01-02 08:30 UTC, because it failed: round 3: 1 sites of a quorum of 3; "
    "without hospital-c; federation.quorum: 3 became 2"
)


def test_it_is_told_in_one_line_on_the_page_and_in_the_manifest() -> None:
    lines = whole_run()
    lines = [*lines[:3], GOES_ON, *lines[3:]]
    summary = summarise(lines)
    assert [in_one_line(fact) for fact in summary.resumptions] == [TOLD]
    assert TOLD in render_page(summary)
    assert [fact.left_out for fact in make_manifest(lines, {}).resumptions] == [["hospital-c"]]


def test_where_only_scoring_was_left_no_round_is_named() -> None:
    (fact,) = resumptions(start(), [GOES_ON.model_copy(update={"round": 4})])
    assert fact.round is None
    plain = Resumption(time=GOES_ON.time, round=None, because="", left_out=[], changed={})
    assert in_one_line(plain) == "Resumed for the scoring, 2026-01-02 08:30 UTC"


def test_a_site_that_is_there_for_the_first_time_when_a_run_goes_on_joins_then() -> None:
    first = start()
    (late,) = (site for site in first.sites if site.site == "hospital-c")
    first = first.model_copy(
        update={"sites": [site for site in first.sites if site is not late], "missing": ["hospital-c"]}
    )
    goes_on = GOES_ON.model_copy(update={"sites": [*first.sites, late], "left_out": []})
    assert joins(first, [goes_on]) == {"hospital-c": JoinLine(round=2, manifest=late)}
    summary = summarise([first, round_line(0), round_line(1), goes_on, EndLine(status="partial")])
    assert summary.missing == []
    assert {site.name: site.joined_in for site in summary.sites}["hospital-c"] == 3


def test_a_site_that_was_left_out_is_not_told_to_lack_its_scores() -> None:
    lines = [line for line in whole_run() if getattr(line, "site", "") != "hospital-c"]
    reasons = summarise([*lines[:3], GOES_ON, *lines[3:]]).ending.reasons
    assert not any(reason.startswith("hospital-c") for reason in reasons)
    assert any(reason.startswith("hospital-c") for reason in summarise(lines).ending.reasons)
