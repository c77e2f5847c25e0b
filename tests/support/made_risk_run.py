"""A made clinical risk run: two hospitals, a pseudo-site with too few positives, and one outside, of one class."""

from wardround.records.alerts import AlertRow
from wardround.records.metric_record import MetricRecord, Status, suppressed, undefined
from wardround.records.run_lines import DifferenceLine, EndLine, RoundLine, RunLine, ScoreLine, StartLine
from wardround.records.scores import Cohort, Tally
from wardround.records.update import SiteManifest, SiteRound, TrainingReport

SITES = ("cleveland", "hungary", "va")
OUTSIDE = "switzerland"
ROUNDS = 3
COUNTS = {"cleveland": (80, 36), "hungary": (70, 26), "va": (40, 6), OUTSIDE: (30, 30)}
BRIER = {  # by arm, at each site where it is scored
    "best": (0.140, 0.150, 0.210, 0.260),
    "last": (0.142, 0.152, 0.212, 0.262),
    "personalised": (0.136, 0.149, 0.205, None),
    "recalibrated": (0.133, 0.149, 0.205, None),
    "alone:cleveland": (0.150, 0.190, 0.230, 0.280),
    "alone:hungary": (0.180, 0.148, 0.240, 0.270),
    "alone:va": (0.220, 0.210, 0.200, 0.240),
    "reference": (0.148, 0.155, 0.215, None),
    "pooled": (0.135, 0.145, 0.190, 0.250),
    "pooled_reference": (0.141, 0.149, 0.195, 0.255),
}
DIFFERENCES = {  # best minus alone: lower is better
    "cleveland": (-0.010, (-0.018, -0.003)),
    "hungary": (0.002, (-0.006, 0.011)),
    "va": (0.010, (0.002, 0.019)),
}


def manifest(site: str) -> SiteManifest:
    """A site's answer to prepare; one is a pseudo-site, and one holds a column's sums back."""
    train = site != OUTSIDE
    return SiteManifest(
        site=site,
        role="train" if train else "evaluate",
        counts={"train_patients": 200 if train else 0, "test_cases": COUNTS[site][0]},
        metric_names=("auroc", "auprc", "brier", "log_loss"),
        shared={"backbone.0.weight": ["float32", 64, 20], "head.weight": ["float32", 1, 32]},
        kept_local=(),
        contract_digest="c",
        study_digest="d" * 64,
        nature="pseudo_site" if site == "va" else "hospital",
        statistics=[Tally(name="column_age", counts={"sum": 90.0, "sum_of_squares": 50.0}, n=200, support=90)]
        if train
        else [],
        suppressed=["column_chol"] if site == "va" else [],
    )


def start() -> StartLine:
    """What was agreed in prepare."""
    outcome = {"name": "heart_disease", "meaning": "angiographic heart disease", "horizon_days": None}
    return StartLine(
        run="20260101-120000",
        time="2026-01-01T12:00:00+00:00",
        environment="sim",
        study={
            "name": "heart_disease",
            "seed": 0,
            "workload": {"kind": "clinical_risk", "contract": {"outcome": outcome}},
            "algorithm": {"kind": "fedavg", "mu": 0.0},
            "training": {"rounds": ROUNDS, "local_steps": 20},
            "evaluation": {"key_metric": "brier", "key_metric_mode": "min"},
        },
        study_digest="d" * 64,
        sites=[manifest(site) for site in (*SITES, OUTSIDE)],
    )


def figures(brier: float, site: str, *, detail: bool = True) -> list[MetricRecord]:
    """All records of a model whose Brier score is given; support and class decide what has no value."""
    n, positives = COUNTS[site]
    prevalence = positives / n
    values = {"auroc": 1.1 - 2 * brier, "auprc": 1.0 - 1.5 * brier, "brier": brier, "log_loss": 3 * brier}
    if detail:
        values |= {
            "accuracy": 1 - brier,
            "prevalence": prevalence,
            "brier_skill": 1 - brier / 0.25,
            "brier_reliability": 0.012,
            "brier_resolution": 0.1,
            "brier_within_bin": 0.001,
            "brier_uncertainty": prevalence * (1 - prevalence),
            "calibration_error": brier / 3,
            "calibration_slope": 1.4 - 2 * brier,
            "calibration_intercept": -brier,
        }
    return [_figure(name, round(value, 4), n, positives) for name, value in values.items()]


def _figure(name: str, value: float, n: int, positives: int) -> MetricRecord:
    ranked = name in ("auroc", "auprc", "brier_skill", "calibration_slope", "calibration_intercept")
    if ranked and positives in (0, n):
        return undefined(name, "one_class", n=n, n_positive=positives)
    if ranked and positives < 10:
        return MetricRecord(
            name=name,
            value=value,
            n=n,
            n_positive=positives,
            status=Status.LOW_SUPPORT,
            reason="fewer_than_10_positives",
        )
    interval = (round(value - 0.03, 4), round(value + 0.03, 4))
    return MetricRecord(name=name, value=value, n=n, n_positive=positives, interval=interval)


def cohorts(brier: float, site: str) -> list[Cohort]:
    """By sex: one part told, one suppressed."""
    names = ("auroc", "auprc", "brier", "calibration_intercept")
    told = [record for record in figures(brier, site) if record.name in names]
    held = [suppressed(name) for name in names]
    return [Cohort(name="sex", value="male", records=told), Cohort(name="sex", value="female", records=held)]


def alerts() -> list[AlertRow]:
    """One threshold, and one goal that none reaches."""
    shares = {"sensitivity": 0.81, "specificity": 0.7, "ppv": 0.62, "npv": 0.88}
    told = [
        MetricRecord(name=name, value=value, n=36, n_positive=round(36 * value), interval=(value - 0.1, value + 0.1))
        for name, value in shares.items()
    ]
    told.append(MetricRecord(name="alerts_per_100", value=41.2, n=80, n_positive=33))
    return [
        AlertRow(goal="sensitivity", target=0.8, threshold=0.37, records=told),
        AlertRow(goal="ppv", target=0.95, threshold=None, reason="target_not_reached"),
    ]


def score_lines() -> list[ScoreLine]:
    """Test scores of every arm where it has a model."""
    lines = []
    for arm, values in BRIER.items():
        for site, value in zip((*SITES, OUTSIDE), values, strict=True):
            if value is None:
                continue
            notes = {"personalised": "fine_tuning", "recalibrated": "recalibration"}.get(arm)
            kept = "kept" if site == "cleveland" else "not_kept"
            federated = arm in ("best", "personalised", "recalibrated")
            lines.append(
                ScoreLine(
                    arm=arm,
                    split="test",
                    site=site,
                    role="evaluate" if site == OUTSIDE else "train",
                    model_round=2,
                    records=figures(value, site),
                    cohorts=cohorts(value, site) if federated else [],
                    alerts=alerts() if federated else [],
                    notes=[f"{notes}_{kept}"] if notes else [],
                )
            )
    return lines


def round_line(index: int) -> RoundLine:
    """One round in which all contributed."""
    sites = {
        site: SiteRound(
            report=TrainingReport(steps=20, skipped_steps=0, patients=200, loss=0.5, moved=1.0),
            weight=200.0,
            records=figures(0.25 - 0.02 * index, site, detail=False),
        )
        for site in SITES
    }
    return RoundLine(
        round=index, rounds=ROUNDS, expected=list(SITES), contributed=list(SITES), sites=sites, moved=1.0,
        seconds={"total": 1.5},
    )  # fmt: skip


def whole_risk_run() -> list[RunLine]:
    """A complete run."""
    differences = [
        DifferenceLine(
            arm="best",
            reference=f"alone:{site}",
            split="test",
            site=site,
            records=[MetricRecord(name="brier", value=value, n=COUNTS[site][0], interval=interval)],
        )
        for site, (value, interval) in DIFFERENCES.items()
    ]
    last = [
        ScoreLine(
            arm="last", split="validation", site=site, role="train", model_round=ROUNDS,
            records=figures(0.18, site, detail=False),
        )
        for site in SITES
    ]  # fmt: skip
    return [
        start(),
        *(round_line(index) for index in range(ROUNDS)),
        *last,
        *score_lines(),
        *differences,
        EndLine(status="complete", best_round=2, last_round=3, weights_sha256="a" * 64, seconds=9.0),
    ]
