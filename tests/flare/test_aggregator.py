"""The gate at FLARE's door: who is believed, what is combined, and what FLARE's own figures are made from."""

from typing import Any

import pytest
import torch
from nvflare.app_common.abstract.fl_model import FLModel, ParamsType
from nvflare.app_common.app_constant import AppConstants

from wardround.flare.aggregator import UpdateAggregator
from wardround.flare.messages import KEY, meta
from wardround.records.metric_record import MetricRecord, undefined
from wardround.records.orders import Reply
from wardround.records.reasons import WardroundError
from wardround.records.study_sections import Aggregation
from wardround.records.update import TrainingReport

EXPECTED = {"w": ("float32", (2,))}
PATIENTS = {"hospital-a": 1, "hospital-b": 3}


def _update(site: str, value: float = 1.0, *, patients: int | None = None, **report: Any) -> FLModel:
    values = {"steps": 2, "skipped_steps": 0, "patients": patients or PATIENTS.get(site, 1), "loss": 0.5, "moved": 1.0}
    records = [MetricRecord(name="accuracy", value=value / 10, n=4), undefined("auroc", "one_class", n=4)]
    sent = meta(Reply(report=TrainingReport(**{**values, **report}), records=records))
    return FLModel(
        params={"w": torch.full((2,), value)}, params_type=ParamsType.DIFF, meta={**sent, "client_name": site}
    )


def _aggregator(**rules: Any) -> UpdateAggregator:
    aggregator = UpdateAggregator()
    aggregator.begin(Aggregation(**rules), EXPECTED, PATIENTS, {"hospital-a": 8, "hospital-b": 8})
    return aggregator


@pytest.mark.parametrize(("rules", "mean"), [({}, 1.75), ({"weighting": "equal"}, 1.5), ({"weighting": "steps"}, 1.2)])
def test_the_mean_follows_the_studys_weighting(rules: dict[str, str], mean: float) -> None:
    aggregator = _aggregator(**rules)
    aggregator.accept_model(_update("hospital-b", 2.0))
    aggregator.accept_model(_update("hospital-a", 1.0, steps=8))
    torch.testing.assert_close(aggregator.aggregate_model().params["w"], torch.full((2,), mean))
    assert sum(aggregator.weights.values()) == pytest.approx(1)


@pytest.mark.parametrize("count", [0, -5, float("nan"), 1e12, None, "10", 7])
def test_a_count_that_cannot_be_is_rejected(count: Any) -> None:
    aggregator = _aggregator()
    update = _update("hospital-b")
    if count is None:
        del update.meta[KEY]["report"]["patients"]
    else:
        update.meta[KEY]["report"]["patients"] = count
    with pytest.raises(WardroundError):
        aggregator.accept_model(update)
    assert aggregator.contributions.rejected == {"hospital-b": "count_invalid"}
    assert aggregator.aggregate_model().params == {}


def test_more_steps_than_the_study_lets_a_site_make_are_rejected() -> None:
    aggregator = _aggregator(weighting="steps")
    with pytest.raises(WardroundError):
        aggregator.accept_model(_update("hospital-a", steps=9))
    aggregator.accept_model(_update("hospital-b", steps=8))
    assert aggregator.contributions.rejected == {"hospital-a": "count_invalid"}
    assert aggregator.contributions.counts == {"hospital-b": 8}


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"w": torch.tensor([1.0, float("nan")])}, "not_finite"),
        ({"v": torch.ones(2)}, "names_mismatch"),
        ({"w": torch.ones(3)}, "shape_mismatch"),
        ({"w": torch.ones(2, dtype=torch.float64)}, "type_mismatch"),
        ({"w": torch.full((2,), 100.0)}, "norm_too_large"),
        ({}, "names_mismatch"),
        (None, "names_mismatch"),
    ],
)
def test_an_update_that_does_not_fit_is_rejected(params: Any, reason: str) -> None:
    aggregator = _aggregator(norm_limit=10.0)
    update = _update("hospital-b")
    update.params = params
    with pytest.raises(WardroundError):
        aggregator.accept_model(update)
    aggregator.accept_model(_update("hospital-a", 3.0))
    assert aggregator.contributions.rejected == {"hospital-b": reason}
    torch.testing.assert_close(aggregator.aggregate_model().params["w"], torch.full((2,), 3.0))


def test_arrays_of_a_sites_privacy_filter_are_tensors_again() -> None:
    aggregator = _aggregator()
    update = _update("hospital-a")
    update.params = {"w": update.params["w"].numpy()}
    aggregator.accept_model(update)
    assert isinstance(aggregator.aggregate_model().params["w"], torch.Tensor)


@pytest.mark.parametrize("second", ["hospital-a", "hospital-x"])
def test_a_second_answer_and_a_stranger_are_not_counted(second: str) -> None:
    aggregator = _aggregator()
    aggregator.accept_model(_update("hospital-a", 1.0))
    with pytest.raises(WardroundError):
        aggregator.accept_model(_update(second, 100.0))
    torch.testing.assert_close(aggregator.aggregate_model().params["w"], torch.ones(2))


def test_an_answer_that_is_no_reply_is_rejected() -> None:
    aggregator = _aggregator()
    update = _update("hospital-a")
    update.meta[KEY] = {"error": "a patient's name"}
    with pytest.raises(WardroundError):
        aggregator.accept_model(update)
    assert aggregator.contributions.rejected == {"hospital-a": "reply_invalid"}


def test_flares_figures_come_from_accepted_records_under_the_certificates_names() -> None:
    aggregator = _aggregator(norm_limit=50.0)
    aggregator.accept_model(_update("hospital-b", 2.0))
    with pytest.raises(WardroundError):
        aggregator.accept_model(_update("hospital-a", 100.0))
    result = aggregator.aggregate_model()
    info = result.meta[AppConstants.METRICS_AGGREGATION_INFO]
    assert info["sites"] == [{"name": "hospital-b", "metrics": {"accuracy": 0.2}, "weight": 1.0}]
    assert result.metrics == {"accuracy": pytest.approx(0.2)}  # and no 0 for the undefined figure
