"""The first sentences say what the intervals show, and nothing where there is no comparison."""

from support.made_run import DIFFERENCES, OUTSIDE, TRAINING, whole_run
from wardround.records.metric_record import MetricRecord
from wardround.records.run_lines import DifferenceLine, EndLine, RunLine, ScoreLine
from wardround.reporting.answer import answer
from wardround.reporting.measure import MINUS
from wardround.reporting.summary import summarise


def told(lines: list[RunLine]) -> str:
    return answer(summarise(lines)).replace("\N{NO-BREAK SPACE}", " ").replace(MINUS, "-")


def difference(site: str, reference: str, value: float, interval: tuple[float, float]) -> DifferenceLine:
    record = MetricRecord(name="dice_mean", value=value, n=8, interval=interval)
    return DifferenceLine(arm="best", reference=f"alone:{reference}", split="test", site=site, records=[record])


def test_gain_no_gain_and_loss_are_three_sentences() -> None:
    text = told(whole_run())
    assert "hospital-a does better with the federated model than with its own: +0.020" in text
    assert "hospital-c does worse with the federated model than with its own: -0.071" in text
    assert "hospital-b shows no gain over its own model (8 test cases; the interval includes 0)." in text


def test_no_hospital_with_a_gain_is_one_plain_sentence() -> None:
    lines = [line for line in whole_run() if not isinstance(line, DifferenceLine)]
    lines += [difference(site, site, *DIFFERENCES["hospital-b"]) for site in TRAINING]
    expected = (
        "None of the three hospitals shows a gain over its own model (8 test cases each; every interval includes 0)."
    )
    assert told(lines) == expected


def test_an_outside_hospital_has_its_differences_and_intervals() -> None:
    lines = [
        *whole_run(),
        difference(OUTSIDE, "hospital-a", 0.142, (0.039, 0.254)),
        difference(OUTSIDE, "hospital-b", 0.062, (-0.005, 0.115)),
    ]
    assert (
        "At hospital-d, which never trained, on 8 test cases the federated model is better than hospital-a's own "
        "(+0.142, 95 % interval +0.039 to +0.254); it shows no difference from hospital-b's own (+0.062, 95 % "
        "interval -0.005 to +0.115)."
    ) in told(lines)


def test_without_baselines_the_answer_says_how_to_get_one() -> None:
    lines = [line for line in whole_run() if line.kind not in ("difference", "baseline_round")]
    lines = [line for line in lines if not (isinstance(line, ScoreLine) and line.arm.startswith("alone"))]
    assert told(lines) == "Not compared with own data alone; run with --baselines, or with evaluation.compare_alone."


def test_without_scores_nothing_is_claimed() -> None:
    assert told([whole_run()[0], EndLine(status="failed")]) == "No training hospital has been scored."
