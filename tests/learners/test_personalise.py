"""Fine-tuning is kept only where the site's validation cases say that it is better."""

from collections.abc import Iterator

import pytest
import torch
from torch import nn

from support.fake_workload import FakeData, FakeWorkload, make_study
from wardround.learners.learner import Learner
from wardround.learners.personalise import fine_tune
from wardround.learners.steps import StepReport
from wardround.records.metric_record import MetricRecord, undefined
from wardround.records.scores import Scores

REPORT = StepReport(1, 0, 0.5, None, 0.0)


@pytest.mark.parametrize(
    ("values", "mode", "kept"),
    [
        ((0.5, 0.6), "max", True),
        ((0.5, 0.5), "max", False),
        ((0.6, 0.5), "max", False),
        ((0.6, 0.5), "min", True),
        ((None, 0.9), "max", False),
        ((0.1, None), "max", False),
    ],
)
def test_only_a_better_figure_keeps_it(values: tuple[float | None, ...], mode: str, kept: bool) -> None:
    network = nn.Linear(1, 1)
    before = network.weight.detach().clone()
    answers: Iterator[float | None] = iter(values)

    def validate() -> Scores:
        value = next(answers)
        record = MetricRecord(name="m", value=value, n=1) if value is not None else undefined("m", "no_case")
        return Scores(split="validation", records=[record])

    def train() -> StepReport:
        with torch.no_grad():
            network.weight.add_(1.0)
        return REPORT

    result = fine_tune(network, validate=validate, train=train, key_metric="m", mode=mode)
    assert result.kept is kept
    assert result.note == ("fine_tuning_kept" if kept else "fine_tuning_not_kept")
    assert torch.equal(network.weight.detach(), before + (1.0 if kept else 0.0))


def test_a_better_figure_over_too_few_cases_keeps_nothing() -> None:
    values = iter((0.5, 0.9))

    def validate() -> Scores:
        few = {"status": "low_support", "reason": "fewer_than_3_cases"}
        return Scores(split="validation", records=[MetricRecord(name="m", value=next(values), n=2, **few)])

    result = fine_tune(nn.Linear(1, 1), validate=validate, train=lambda: REPORT, key_metric="m", mode="max")
    assert not result.kept


def test_a_learner_says_which_and_scores_that_model() -> None:
    data = FakeData(1, gain=4.0, offset=3.0)
    learner = Learner(FakeWorkload(), data, make_study(), site="a", run="r")
    shared = learner.shared_entries()
    learner.load(shared, model_round=3)
    result = learner.personalise(60)
    assert result.kept
    assert learner.notes == ("fine_tuning_kept",)
    assert learner.score("validation") == result.after
    learner.load(shared, model_round=3)
    assert learner.notes == ()
    assert learner.validate() == result.before


def test_fine_tuning_that_blows_up_is_not_kept() -> None:
    data = FakeData(1)
    learner = Learner(FakeWorkload(), data, make_study(), site="a", run="r")
    shared = learner.shared_entries()
    learner.load(shared, model_round=3)
    data.bad = set(range(1, 20))
    result = learner.personalise(10)
    assert not result.kept
    assert result.after is None
    assert all(torch.equal(tensor, shared[name]) for name, tensor in learner.shared_entries().items())
    assert learner.validate() == result.before
