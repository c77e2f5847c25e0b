"""What may be handed on of a look at a released model passes the gate."""

from typing import Any

import pytest

from wardround.records.acceptance_outcome import CriterionOutcome, check_at_site
from wardround.records.disclosure import Disclosure
from wardround.records.metric_record import MetricRecord
from wardround.records.monitoring import CellShift, InputShift, Monitoring
from wardround.records.shared_monitoring import SharedMonitoring
from wardround.site.guarded import Guarded
from wardround.site.guarded_monitoring import guard_monitoring
from wardround.workloads.words import Words

WORDS = Words(figures=frozenset({"auroc", "brier"}))


def _found(
    *, support: int | None = 40, patients: int = 40, interval: tuple[float, float] | None = (0.7, 0.9)
) -> Monitoring:
    figures = [
        MetricRecord(name="brier", value=0.1, n=50, interval=(0.05, 0.15), support=patients),
        MetricRecord(name="auroc", value=0.8, n=50, interval=interval, support=support),
    ]
    criteria = [
        CriterionOutcome(
            kind="worst_site",
            metric=record.name,
            better=better,
            limit=limit,
            sites=[check_at_site("hospital-a", record, limit, higher=better == "higher")],
        )
        for record, better, limit in zip(figures, ("lower", "higher"), (0.2, 0.75), strict=True)
    ]
    cells = [CellShift(label="40 to 55 years", expected=0.5, found=0.5)]
    moved = InputShift(name="age", index=0.3, chance=0.1, judged="large", rows=50, cells=cells)
    return Monitoring(
        site="hospital-a", study="risk", version="v1", release_sha256="c0ffee",
        time="2030-01-31T09:00:00+00:00", signature="verified", cases=53, patients=patients,
        left_out=0, criteria=criteria, figures=figures, inputs=[moved],
    )  # fmt: skip


def _guarded(found: Monitoring, words: Words = WORDS, **disclosure: Any) -> Guarded[SharedMonitoring | None]:
    return guard_monitoring(found.counts, Disclosure(**disclosure), words)


def test_counts_and_names_of_figures_leave_and_nothing_else() -> None:
    shared = _guarded(_found()).passed
    assert shared is not None
    assert shared.model_dump() == {
        "study": "risk",
        "version": "v1",
        "release_sha256": "c0ffee",
        "date": "2030-01-31",
        "patients": 40,
        "cases": 53,
        "criteria": [
            {"metric": "brier", "met": True, "support": None},
            {"metric": "auroc", "met": False, "support": None},
        ],
        "inputs": {"large": 1},
    }
    assert (shared.missed, shared.stands_out) == (["auroc"], True)


def test_counts_are_told_in_the_sites_steps() -> None:
    shared = _guarded(_found(), count_step=25).passed
    assert shared is not None
    assert (shared.patients, shared.cases) == (50, 75)


@pytest.mark.parametrize(("support", "disclosure"), [(2, {}), (4, {}), (None, {}), (40, {"allowed": ["brier"]})])
def test_a_criterion_whose_figure_is_held_back_is_neither_met_nor_missed(
    support: int | None, disclosure: dict[str, Any]
) -> None:
    shared = _guarded(_found(support=support), **disclosure).passed
    assert shared is not None
    assert [criterion.met for criterion in shared.criteria] == [True, None]
    assert shared.missed == []


def test_a_criterion_that_the_cases_are_too_few_for_is_not_told_as_missed() -> None:
    few = _found(interval=None).counts
    assert [criterion.met for criterion in few.criteria] == [True, None]


def test_nothing_is_told_of_fewer_patients_than_the_minimum_and_that_is_said() -> None:
    guarded = _guarded(_found(), minimum_patients=41, minimum_cell=41)
    assert (guarded.passed, guarded.suppressed) == (None, ["monitoring"])


def test_a_figure_of_another_name_is_not_told_of() -> None:
    guarded = _guarded(_found(), Words(figures=frozenset({"brier"})))
    assert guarded.passed is not None
    assert [criterion.metric for criterion in guarded.passed.criteria] == ["brier"]
    assert guarded.unlisted == ["auroc"]
