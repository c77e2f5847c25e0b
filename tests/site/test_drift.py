"""A site's own look at each round's model: what is flagged, how seldom by chance, what a restart keeps."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.fake_workload import WORDS, FakeWorkload, make_study
from support.small_risk import first_entries, risk_site, risk_study
from wardround.records.disclosure import Disclosure
from wardround.records.orders import TRAIN, VALIDATE, Order, Reply
from wardround.records.scores import CaseScore, Scores
from wardround.site.drift import ValidationDrift
from wardround.site.gate import guard
from wardround.site.tasks import SiteTasks

PATIENTS = 30
FLAG = ["key_figure_worse"]


def _scores(level: float, seed: int = 0, *, patients: int = PATIENTS, first: int = 0) -> Scores:
    noise = np.random.default_rng(seed).normal(0, 0.02, patients)
    cases = [
        CaseScore(case=f"c{first + place}", patient=f"p{place}", values={"accuracy": level + value})
        for place, value in enumerate(noise)
    ]
    return Scores(split="validation", records=[], cases=cases)


def _drift(folder: Path, **changes: Any) -> ValidationDrift:
    study = make_study(training={"rounds": 21, "local_steps": 4, "learning_rate": 0.05}, **changes)
    return ValidationDrift(study, FakeWorkload(), folder, Disclosure())


def test_a_figure_that_falls_is_flagged_and_one_that_rises_is_not(tmp_path: Path) -> None:
    drift = _drift(tmp_path)
    assert drift.level == pytest.approx(1 - 0.05 / 21)  # 21 rounds' models and the last one: 21 pairs
    seen = [drift.look(number, _scores(level, number)) for number, level in enumerate([0.6, 0.7, 0.7, 0.6, 0.9])]
    assert seen == [[], [], [], FLAG, []]


def test_where_lower_is_better_a_rise_is_worse(tmp_path: Path) -> None:
    drift = _drift(tmp_path, evaluation={"key_metric": "accuracy", "key_metric_mode": "min"})
    assert [drift.look(number, _scores(level, number)) for number, level in enumerate([0.6, 0.7, 0.6])] == [
        [],
        FLAG,
        [],
    ]


def test_runs_in_which_nothing_changes_seldom_raise_a_flag(tmp_path: Path) -> None:
    flagged = 0
    for run in range(100):
        drift = _drift(tmp_path / str(run))
        looks = [drift.look(number, _scores(0.7, 1000 * run + number)) for number in range(22)]
        flagged += FLAG in looks
    assert flagged <= 7  # one run in forty is what the level allows: 7 of 100 or more have a chance of 1 %


def test_a_new_process_goes_on_and_a_repeated_round_is_compared_with_the_one_before_it(tmp_path: Path) -> None:
    _drift(tmp_path).look(0, _scores(0.7))
    assert _drift(tmp_path).look(1, _scores(0.5, 1)) == FLAG
    assert _drift(tmp_path).look(1, _scores(0.5, 1)) == FLAG
    assert _drift(tmp_path).look(2, _scores(0.5, 2)) == []


def test_other_cases_few_patients_and_a_broken_file_are_compared_with_nothing(tmp_path: Path) -> None:
    drift = _drift(tmp_path)
    drift.look(0, _scores(0.7))
    assert drift.look(1, _scores(0.1, first=1)) == []
    few = ValidationDrift(make_study(), FakeWorkload(), tmp_path / "few", Disclosure(minimum_patients=5))
    few.look(0, _scores(0.7, patients=4))
    assert few.look(1, _scores(0.1, 1, patients=4)) == []
    (tmp_path / "validation_looks.json").write_text("{}")
    assert _drift(tmp_path).look(2, _scores(0.1)) == []


def test_only_the_code_passes_the_gate() -> None:
    cleared = guard(Reply(notes=["key_figure_worse", "calibration_worse"]), Disclosure(), WORDS)
    assert cleared.reply.notes == ["key_figure_worse", "calibration_worse"]


def test_a_model_that_was_spoiled_between_two_rounds_is_flagged_by_the_sites_own_tasks(tmp_path: Path) -> None:
    study, config = risk_study(), risk_site(tmp_path)
    tasks, good = SiteTasks(study, config), first_entries(study)
    first, difference = tasks.do(TRAIN, Order(run="run"), good)
    assert first.notes == []
    assert difference is not None
    trained = {name: good[name] + difference[name] for name in good}
    second, _ = tasks.do(TRAIN, Order(run="run", round=1, model_round=1), trained)
    assert second.notes == []
    name = next(name for name in reversed(trained) if name.endswith("bias"))
    spoiled = {**trained, name: trained[name] + 5.0}  # every probability too high, in the same order
    restarted = SiteTasks(study, config)
    third, _ = restarted.do(TRAIN, Order(run="run", round=2, model_round=2), spoiled)
    assert third.notes == FLAG  # the key metric of this study is the Brier score
    last = Order(run="run", round=3, model_round=2, arm="last")
    fresh = SiteTasks(study, risk_site(tmp_path / "other"))  # one that was spoiled after the last round
    fresh.do(TRAIN, Order(run="run", round=1, model_round=1), trained)
    told, _ = fresh.do(VALIDATE, last, spoiled)
    assert told.notes == ["statistics_re_measured", *FLAG]
    assert fresh.do(VALIDATE, last, spoiled)[0].notes == told.notes
    assert FLAG[0] not in fresh.do(VALIDATE, last.model_copy(update={"split": "test"}), spoiled)[0].notes
