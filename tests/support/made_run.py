"""A hand-made run of three training hospitals and an outside one, with every kind of missing figure in it."""

from wardround.records.metric_record import MetricRecord, Status, undefined
from wardround.records.run_lines import (
    BaselineRoundLine,
    DifferenceLine,
    EndLine,
    RoundLine,
    RunLine,
    ScoreLine,
    StartLine,
)
from wardround.records.scores import Tally
from wardround.records.update import SiteManifest, SiteRound, TrainingReport

TRAINING = ("hospital-a", "hospital-b", "hospital-c")
OUTSIDE = "hospital-d"
ROUNDS = 4
KEPT = ("model.0.conv.unit0.adn.N.weight", "model.0.conv.unit0.adn.N.running_mean")
VALUES = {  # arm: whole-tumor Dice by hospital; the other regions follow
    "best": (0.88, 0.80, 0.91, 0.74),
    "last": (0.87, 0.79, 0.90, 0.73),
    "personalised": (0.89, 0.82, 0.91, 0.75),
    "alone:hospital-a": (0.86, 0.62, 0.70, 0.55),
    "alone:hospital-b": (0.61, 0.81, 0.66, 0.58),
    "alone:hospital-c": (0.65, 0.57, 0.84, 0.70),
    "pooled": (0.90, 0.84, 0.92, 0.78),
}
DIFFERENCES = {  # best minus alone: clear gain, no gain shown, clear loss
    "hospital-a": (0.020, (0.004, 0.041)),
    "hospital-b": (-0.010, (-0.034, 0.013)),
    "hospital-c": (-0.071, (-0.120, -0.030)),
}


def regions(whole: float, *, n: int = 8) -> list[MetricRecord]:
    """Records of a model whose whole-tumor Dice is given."""
    return [
        MetricRecord(name="dice_wt", value=whole, n=n, n_positive=n),
        MetricRecord(name="dice_tc", value=round(whole - 0.1, 4), n=n, n_positive=n),
        MetricRecord(name="dice_et", value=round(whole - 0.08, 4), n=n - 2, n_positive=n - 2),
        MetricRecord(name="dice_mean", value=round(whole - 0.06, 4), n=n, n_positive=n),
    ]


def details(whole: float) -> list[MetricRecord]:
    """What only the last scoring adds."""
    return [
        MetricRecord(name="hd95_wt", value=round(20 * (1 - whole), 2), n=8, n_positive=8),
        MetricRecord(name="brats_dice_wt", value=whole, n=8),
        MetricRecord(name="brats_hd95_wt", value=round(20 * (1 - whole), 2), n=8),
        MetricRecord(name="false_positive_volume_et", value=12.0, n=2),
    ]


def start(kept: tuple[str, ...] = ()) -> StartLine:
    """What was agreed in prepare."""
    return StartLine(
        run="20260101-120000",
        time="2026-01-01T12:00:00+00:00",
        environment="sim",
        study={
            "name": "brain_tumor",
            "seed": 0,
            "workload": {"kind": "brain_tumor"},
            "algorithm": {"kind": "fedbn" if kept else "fedavg", "mu": 0.0},
            "training": {"rounds": ROUNDS, "local_steps": 96},
            "evaluation": {"key_metric": "dice_mean", "key_metric_mode": "max"},
        },
        study_digest="d" * 64,
        sites=[
            SiteManifest(
                site=site,
                role="evaluate" if site == OUTSIDE else "train",
                counts={"train_patients": 0 if site == OUTSIDE else 6, "test_cases": 8},
                metric_names=("dice_wt", "dice_tc", "dice_et", "dice_mean"),
                shared={"model.0.weight": ["float32", 16, 4, 3, 3, 3], "model.0.bias": ["float32", 16]},
                kept_local=kept,
                contract_digest="c",
                study_digest="d" * 64,
            )
            for site in (*TRAINING, OUTSIDE)
        ],
        versions={"torch": "2.13.0"},
    )


def round_line(index: int, **changes: object) -> RoundLine:
    """One round in which all three contributed, unless `changes` say otherwise."""
    sites = {
        site: SiteRound(
            report=TrainingReport(
                steps=96, skipped_steps=0, patients=6, loss=0.5, moved=1.5 + number, proximal_pull=0.0125
            ),
            weight=2.0,
            records=regions(0.5 + 0.08 * index + 0.01 * number),
        )
        for number, site in enumerate(TRAINING)
    }
    line = RoundLine(
        round=index,
        rounds=ROUNDS,
        expected=list(TRAINING),
        contributed=list(TRAINING),
        sites=sites,
        moved=2.25,
        seconds={"total": 10.5},
    )
    return line.model_copy(update=changes)


def score_lines() -> list[ScoreLine]:
    """Test scores of every arm everywhere."""
    return [
        ScoreLine(
            arm=arm,
            split="test",
            site=site,
            role="evaluate" if site == OUTSIDE else "train",
            model_round=3,
            records=regions(value) + details(value),
            tallies=[Tally(name="voxels_wt", counts={"both": 80, "predicted": 100, "reference": 110}, n=8)],
        )
        for arm, values in VALUES.items()
        for site, value in zip((*TRAINING, OUTSIDE), values, strict=True)
    ]


def whole_run(kept: tuple[str, ...] = ()) -> list[RunLine]:
    """A complete run."""
    curves = [
        BaselineRoundLine(arm=f"alone:{site}", round=rounds, sites={site: regions(0.4 + 0.09 * rounds)})
        for site in TRAINING
        for rounds in range(ROUNDS + 1)
    ]
    differences = [
        DifferenceLine(
            arm="best",
            reference=f"alone:{site}",
            split="test",
            site=site,
            records=[MetricRecord(name="dice_mean", value=value, n=8, interval=interval)],
        )
        for site, (value, interval) in DIFFERENCES.items()
    ]
    last = [
        ScoreLine(arm="last", split="validation", site=site, role="train", model_round=ROUNDS, records=regions(0.85))
        for site in TRAINING
    ]
    return [
        start(kept),
        *(round_line(index) for index in range(ROUNDS)),
        *last,
        *score_lines(),
        *curves,
        *differences,
        EndLine(status="complete", best_round=3, last_round=4, weights_sha256="a" * 64, seconds=61.0),
    ]


def without_value(lines: list[RunLine], arm: str, site: str, name: str, status: Status, reason: str) -> list[RunLine]:
    """The run with one test figure taken away."""
    empty = (
        undefined(name, reason, n=8, n_positive=0)
        if status is Status.UNDEFINED
        else MetricRecord(name=name, value=None, n=0, status=status, reason=reason)
    )
    return [
        line.model_copy(update={"records": [empty if record.name == name else record for record in line.records]})
        if isinstance(line, ScoreLine) and (line.arm, line.site, line.split) == (arm, site, "test")
        else line
        for line in lines
    ]
