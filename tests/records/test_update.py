"""What a site sends is codes and finite numbers by type: anything else is refused where it arrives."""

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from wardround.records.metric_record import MetricRecord
from wardround.records.orders import Reply
from wardround.records.scores import Tally
from wardround.records.update import SiteManifest, TrainingReport

NAN, INFINITY = float("nan"), float("inf")
PATH = "/data/patient-0042/t1c.nii.gz"

REPORT: dict[str, Any] = {"steps": 4, "skipped_steps": 0, "patients": 6, "loss": 0.5, "moved": 1.0}
TALLY: dict[str, Any] = {"name": "voxels_wt", "counts": {"both": 1.0}, "n": 1}
RECORD: dict[str, Any] = {"name": "dice_wt", "value": 0.5, "n": 4}
MANIFEST: dict[str, Any] = {
    "site": "hospital-a",
    "role": "train",
    "counts": {"train_patients": 6},
    "metric_names": ["dice_wt"],
    "shared": {"model.0.conv.weight": ["float32", 4, 1, 3, 3]},
    "kept_local": ["model.0.adn.N.running_mean"],
    "contract_digest": "c0ffee",
    "study_digest": "c0ffee",
    "problems": {"data_unreadable": 1},
    "versions": {"torch": "2.13.0+cu128"},
}


@pytest.mark.parametrize(
    ("model", "settings"), [(TrainingReport, REPORT), (Tally, TALLY), (MetricRecord, RECORD), (SiteManifest, MANIFEST)]
)
def test_what_sites_send_is_accepted(model: type[BaseModel], settings: dict[str, Any]) -> None:
    sent = model.model_validate(settings)
    assert model.model_validate_json(sent.model_dump_json()) == sent


@pytest.mark.parametrize("number", [NAN, INFINITY])
@pytest.mark.parametrize(
    ("model", "settings", "change"),
    [
        (TrainingReport, REPORT, lambda number: {"moved": number}),
        (TrainingReport, REPORT, lambda number: {"loss": number}),
        (TrainingReport, REPORT, lambda number: {"proximal_pull": number}),
        (TrainingReport, REPORT, lambda number: {"seconds": {"train": number}}),
        (Tally, TALLY, lambda number: {"counts": {"both": number}}),
        (MetricRecord, RECORD, lambda number: {"value": number}),
        (MetricRecord, RECORD, lambda number: {"interval": (0.0, number)}),
    ],
)
def test_a_number_that_json_cannot_hold_is_refused(
    model: type[BaseModel], settings: dict[str, Any], change: Any, number: float
) -> None:
    with pytest.raises(ValidationError):
        model.model_validate(settings | change(number))


@pytest.mark.parametrize(
    ("model", "settings"),
    [
        (TrainingReport, REPORT | {"seconds": {PATH: 1.0}}),
        (TrainingReport, REPORT | {"patients": -1}),
        (Tally, TALLY | {"name": PATH}),
        (Tally, TALLY | {"counts": {PATH: 1.0}}),
        (Tally, TALLY | {"n": -1}),
        (Tally, TALLY | {"n": 40.5}),
        (Tally, TALLY | {"support": -1}),
        (MetricRecord, RECORD | {"name": PATH}),
        (MetricRecord, RECORD | {"status": "low_support", "reason": "Jane Doe, born 1950"}),
        (MetricRecord, RECORD | {"status": "low_support", "reason": "x" * 61}),
        (SiteManifest, MANIFEST | {"site": PATH}),
        (SiteManifest, MANIFEST | {"role": "observer"}),
        (SiteManifest, MANIFEST | {"counts": {"Jane Doe": 1}}),
        (SiteManifest, MANIFEST | {"metric_names": [PATH]}),
        (SiteManifest, MANIFEST | {"shared": {PATH: ["float32", 1]}}),
        (SiteManifest, MANIFEST | {"shared": {"w": [PATH, 1]}}),
        (SiteManifest, MANIFEST | {"kept_local": [PATH]}),
        (SiteManifest, MANIFEST | {"contract_digest": PATH}),
        (SiteManifest, MANIFEST | {"problems": {PATH: 1}}),
        (SiteManifest, MANIFEST | {"versions": {"torch": "at /opt/torch"}}),
        (Reply, {"notes": [f"cannot read {PATH}"]}),
    ],
)
def test_free_text_is_refused(model: type[BaseModel], settings: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        model.model_validate(settings)
