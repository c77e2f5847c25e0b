"""A made run of a workload that is neither of the shipped ones: sleep stages, with metrics and words of its own."""

from wardround.metrics.labelled_rows import labelled_rows
from wardround.metrics.reliability import squared_error
from wardround.metrics.score_bins import score_bins
from wardround.records.alerts import AlertRow
from wardround.records.metric_record import MetricRecord, undefined
from wardround.records.run_lines import BaselineRoundLine, EndLine, RoundLine, RunLine, ScoreLine, StartLine
from wardround.records.scores import Cohort, Tally
from wardround.records.update import SiteManifest, SiteRound, TrainingReport
from wardround.workloads.vocabulary import Family, Part, Vocabulary

KIND = "sleep_stages"
SITES = ("clinic-a", "clinic-b")
VOCABULARY = Vocabulary(
    families=(
        Family("kappa", "Kappa", True, 2, parts=(Part("rem", "REM sleep", "REM"), Part("all", "all stages", "all"))),
        Family("delay", "Delay", False, 1, "s", meaning="Seconds until a change of stage is seen."),
    ),
    codes={"no_cases": "no nights to score"},
    what_stays="Recordings of nights",
    left_out="nights",
)


def records(value: float) -> list[MetricRecord]:
    """A model's figures by part, one that has no value, and one that is not in the vocabulary."""
    return [
        MetricRecord(name="kappa_all", value=value, n=9),
        MetricRecord(name="kappa_rem", value=value - 0.1, n=9, n_positive=7),
        undefined("delay", "no_cases", n=0),
        MetricRecord(name="arousals", value=3.25, n=9, interval=(2.5, 4.0)),
    ]


def whole_third_run(*, everything: bool = False) -> list[RunLine]:
    """A complete run. With `everything`, each kind of detail that a record can hold is in it."""
    sites = [
        SiteManifest(
            site=site,
            role="train",
            counts={"train_patients": 20, "test_cases": 9},
            metric_names=("kappa_all", "kappa_rem"),
            shared={"layer.weight": ["float32", 4, 4]},
            kept_local=(),
            contract_digest="c",
            study_digest="d" * 64,
            problems={"no_cases": 2},
        )
        for site in SITES
    ]
    return [
        StartLine(
            run="20260101-120000",
            time="2026-01-01T12:00:00+00:00",
            environment="prod",
            study={
                "name": "sleep",
                "workload": {"kind": KIND},
                "algorithm": {"kind": "fedavg"},
                "training": {"rounds": 1},
                "evaluation": {"key_metric": "kappa_all"},
            },
            study_digest="d" * 64,
            sites=sites,
        ),
        _round(),
        *(BaselineRoundLine(arm=f"alone:{site}", round=1, sites={site: records(0.5)}) for site in SITES),
        *(_score(arm, site, everything) for arm in ("best", "reference", "alone:clinic-a") for site in SITES),
        EndLine(status="complete", best_round=1, last_round=1),
    ]


def _round() -> RoundLine:
    report = TrainingReport(steps=4, skipped_steps=0, patients=20, loss=0.5, moved=1.0)
    return RoundLine(
        round=0,
        rounds=1,
        expected=list(SITES),
        contributed=list(SITES),
        sites={site: SiteRound(report=report, weight=20.0, records=records(0.4)) for site in SITES},
        moved=1.0,
        seconds={"total": 1.0},
    )


def _score(arm: str, site: str, everything: bool) -> ScoreLine:
    line = ScoreLine(arm=arm, split="test", site=site, role="train", model_round=1, records=records(0.6))
    if not everything:
        return line
    slope = MetricRecord(name="calibration_slope", value=1.1, n=9, n_positive=4)
    rows = labelled_rows([0.1, 0.3, 0.4, 0.6, 0.7, 0.9] * 4, [0, 0, 1, 0, 1, 1] * 4)
    sums = [make(rows, minimum_cell=1) for make in (score_bins, squared_error)]
    return line.model_copy(
        update={
            "records": [*line.records, slope],
            "cohorts": [Cohort(name="age", value="old", records=records(0.55))],
            "alerts": [AlertRow(goal="ppv", target=0.5, threshold=0.5, records=records(0.5)[:1])],
            "tallies": [
                Tally(name="minutes_rem", counts={"both": 8, "predicted": 10, "reference": 10}, n=9),
                *(tally for tally in sums if tally),
            ],
        }
    )
