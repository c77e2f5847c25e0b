"""Answers, and what the disclosure gate makes of them."""

from wardround.records.disclosure import Disclosure
from wardround.records.metric_record import MetricRecord
from wardround.records.orders import Reply
from wardround.records.update import SiteManifest, TrainingReport
from wardround.site.gate import guard
from wardround.workloads.words import Words

PARTS = ("young", "middle", "old", "oldest")
WORDS = Words(
    figures=frozenset({"dice_wt", "brier", "ppv", "npv"}),
    sums={"column_age": "sum", "score_bins": r"positive_\d+_\d+"},
    cohorts={"age_band": frozenset(PARTS)},
    counts=frozenset({"unlabelled_cases"}),
)
ID = "patient_0042"


def a_record(name: str = "dice_wt", value: float | None = 0.123456789, **more: object) -> MetricRecord:
    return MetricRecord.model_validate({"name": name, "value": value, "n": 9, "support": 9, **more})


def a_manifest(**changes: object) -> SiteManifest:
    given = {
        "site": "hospital-a",
        "role": "train",
        "counts": {"train_patients": 21, "train_cases": 30, "test_patients": 8, "test_cases": 8},
        "metric_names": ("dice_wt",),
        "shared": {"first.weight": ["float32", 2]},
        "kept_local": (),
        "contract_digest": "ab",
        "study_digest": "cd",
        **changes,
    }
    return SiteManifest.model_validate(given)


def a_report(patients: int) -> TrainingReport:
    seconds = {"train": 1.23456, "patient_0042": 1.0}
    return TrainingReport(steps=4, skipped_steps=0, patients=patients, loss=1 / 3, moved=2 / 3, seconds=seconds)


def passed(reply: Reply, **rules: object) -> Reply:
    return guard(reply, Disclosure.model_validate(rules), WORDS).reply
