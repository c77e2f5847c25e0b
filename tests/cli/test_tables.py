"""The tables at the end of a run: they fit a terminal of 80 columns and explain what they show, not more."""

import io

from rich.console import Console

from support.made_risk_run import whole_risk_run
from support.made_run import KEPT, TRAINING, whole_run
from wardround.cli.tables import print_summary
from wardround.records.metric_record import MetricRecord, Status, suppressed, undefined
from wardround.records.run_lines import DifferenceLine, EndLine, RunLine, ScoreLine
from wardround.reporting.summary import summarise


def printed(lines: list[RunLine], *, terminal: bool = False) -> str:
    stream = io.StringIO()
    print_summary(Console(file=stream, width=80, force_terminal=terminal, color_system=None), summarise(lines))
    return stream.getvalue()


def changed(lines: list[RunLine], arm: str, site: str, **update: object) -> list[RunLine]:
    """The run with another test score of one arm at one site."""
    return [
        line.model_copy(update=update)
        if isinstance(line, ScoreLine) and (line.arm, line.site, line.split) == (arm, site, "test")
        else line
        for line in lines
    ]


def test_tables_fit_80_columns_without_blanks_at_the_ends() -> None:
    lines = printed(whole_run(), terminal=True).splitlines()
    tables = lines[lines.index("Dice, mean of regions, test cases") :]
    assert max(map(len, tables)) <= 80
    assert [line for line in lines if line != line.rstrip()] == []


def test_cases_are_counted_by_part_where_they_differ() -> None:
    records = [
        MetricRecord(name="dice_wt", value=0.9, n=8, n_positive=8),
        MetricRecord(name="dice_et", value=0.8, n=8, n_positive=6),
        MetricRecord(name="dice_mean", value=0.85, n=8, n_positive=8),
        MetricRecord(name="hd95_et", value=3.0, n=8, n_positive=6),
    ]
    assert "hospital-a: 8, ET 6 of 8\n" in printed(changed(whole_run(), "best", "hospital-a", records=records))


def test_what_a_hospital_holds_back_is_said_and_counts_as_no_part_that_its_cases_lack() -> None:
    assert "\N{EN DASH} at" not in printed(whole_run())
    records = [
        MetricRecord(name="dice_wt", value=0.9, n=8, n_positive=8),
        suppressed("dice_et"),
        MetricRecord(name="dice_mean", value=0.85, n=8, n_positive=8),
        undefined("hd95_wt", "empty_reference"),
    ]
    text = printed(changed(whole_run(), "best", "hospital-a", records=records))
    assert "hospital-a: 8\n" in text
    assert "\n\N{EN DASH} at hospital-a: below the site's minimum cell\n" in text


def test_a_star_is_explained_only_where_one_is_printed() -> None:
    assert "* on too few" not in printed(whole_run())
    weak = MetricRecord(name="dice_mean", value=0.1, n=2, status=Status.LOW_SUPPORT, reason="few_cases")
    text = printed(changed(whole_run(), "best", "hospital-c", records=[weak]))
    assert "0.100*" in text
    assert "* on too few" in text


def test_fine_tuning_that_was_not_kept_has_no_figure() -> None:
    text = printed(changed(whole_run(), "personalised", "hospital-b", notes=["fine_tuning_not_kept"]))
    assert text.count("not kept") == 2
    assert "not kept" not in printed(whole_run())


def test_one_model_that_is_best_and_last_is_said_once() -> None:
    text = printed([*whole_run()[:-1], EndLine(status="complete", best_round=4, last_round=4)])
    assert "fed., last" not in text
    assert text.count("last: same model as best") == 1
    assert "fed., last" in printed(whole_run())


def test_an_outside_score_says_whose_statistics_it_rests_on() -> None:
    text = printed(changed(whole_run(KEPT), "best", "hospital-d", notes=["statistics_re_measured"]))
    assert "hospital-d, federated: BatchNorm statistics re-measured" in text


def test_worst_and_mean_are_of_the_training_hospitals() -> None:
    rows = {line.split("  ")[0].strip(): line.split() for line in printed(whole_run()).splitlines()}
    assert rows["mean of these"][3] == "0.803"
    assert rows["worst of these"][3] == "0.740"
    assert all(site in rows for site in TRAINING)


def test_a_risk_study_has_ranking_brier_and_calibration_by_hospital() -> None:
    text = printed(whole_risk_run(), terminal=True)
    assert "by part" not in text
    assert max(map(len, text[text.index("Ranking, Brier score") :].splitlines())) <= 80
    head = next(line for line in text.splitlines() if "AUROC" in line and "Slope" in line)
    assert head.split()[-5:] == ["AUROC", "AUPRC", "score", "Slope", "Intercept"]
    assert "cleveland: 80, 36 positive" in text
    assert "hungary: " in text
    assert "recalibrated, not kept" in text
    assert "log. regr." in text


def test_a_step_that_was_not_kept_is_compared_with_nothing() -> None:
    lines = whole_risk_run()
    kept, dropped = (
        DifferenceLine(
            arm="personalised",
            reference="best",
            split="test",
            site=site,
            records=[MetricRecord(name="brier", value=0.0, n=80, interval=(0.0, 0.0))],
        )
        for site in ("cleveland", "hungary")
    )
    text = printed([*lines, kept, dropped])
    assert text.count("fine-tuned - federated") == 1
