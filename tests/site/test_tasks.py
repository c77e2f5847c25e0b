"""What a hospital does for an order: who may be learned from, and what is told of what was learned."""

from pathlib import Path
from typing import Any

import pytest

from support.fake_workload import WORDS, FakeData, FakeWorkload, make_study
from support.loopback import use_fake_workload
from wardround.learners.initial import initial_shared_entries
from wardround.records.arms import AGAINST_ALONE, ALONE, BEST, LAST, PERSONALISED, RECALIBRATED, REFERENCE
from wardround.records.disclosure import Disclosure
from wardround.records.orders import TRAIN, VALIDATE, Order, Reply
from wardround.records.reasons import Reason, WardroundError
from wardround.records.scores import Scores
from wardround.records.study import Study
from wardround.site.config import SiteConfig
from wardround.site.gate import guard
from wardround.site.tasks import SiteTasks

STUDY = make_study(evaluation={"key_metric": "accuracy", "personalise_steps": 2}, federation={"quorum": 3})
SHARED = initial_shared_entries(FakeWorkload(), STUDY)
LEARNING = [TRAIN, PERSONALISED, RECALIBRATED, REFERENCE, ALONE, *AGAINST_ALONE]


@pytest.fixture(autouse=True)
def _fake_workload(monkeypatch: pytest.MonkeyPatch) -> None:
    use_fake_workload(monkeypatch)


def _site(folder: Path, study: Study = STUDY, *, data: dict[str, Any] | None = None, **changes: Any) -> SiteTasks:
    given = {"name": "hospital-a", "role": "train", "synthetic": False, **changes}
    config = SiteConfig(
        state_folder=folder / "state", cache_folder=folder, data={"fake": {"seed": 1, **(data or {})}}, **given
    )
    return SiteTasks(study, config)


def _ask(site: SiteTasks, what: str, **order: Any) -> Reply:
    """`train`, or the scores of an arm on the test split."""
    if what == TRAIN:
        return site.do(TRAIN, Order(run="run", **order), SHARED)[0]
    return site.do(VALIDATE, Order(run="run", arm=what, **{"split": "test", **order}), SHARED)[0]


def _refusal(site: SiteTasks, what: str, **order: Any) -> WardroundError:
    with pytest.raises(WardroundError) as caught:
        _ask(site, what, **order)
    return caught.value


@pytest.mark.parametrize("what", LEARNING)
def test_an_outside_hospital_is_not_learned_from_whatever_the_order(tmp_path: Path, what: str) -> None:
    site = _site(tmp_path, role="evaluate")
    refused = _refusal(site, what)
    assert refused.code is Reason.CONFIGURATION_INVALID
    assert "role evaluate: this site is never trained on" in str(refused)
    assert [_ask(site, arm).records[0].name for arm in (BEST, LAST)] == ["accuracy", "accuracy"]


@pytest.mark.parametrize("what", LEARNING)
def test_patients_are_not_learned_from_where_rounds_may_combine_two_hospitals(tmp_path: Path, what: str) -> None:
    two = STUDY.model_copy(update={"federation": STUDY.federation.model_copy(update={"quorum": 2})})
    assert _refusal(_site(tmp_path, two), what).code is Reason.QUORUM_TOO_SMALL
    if what not in AGAINST_ALONE:  # which has to be scored before
        assert _ask(_site(tmp_path, two, synthetic=True), what).records


@pytest.mark.parametrize("what", LEARNING)
def test_too_few_patients_are_not_learned_from(tmp_path: Path, what: str) -> None:
    few = _site(tmp_path, data={"cases": 6}, disclosure=Disclosure(minimum_patients=7, minimum_cell=7))
    assert _refusal(few, what).code is Reason.TOO_FEW_PATIENTS
    enough = _site(tmp_path, data={"cases": 7}, disclosure=Disclosure(minimum_patients=7, minimum_cell=7))
    if what not in AGAINST_ALONE:
        assert _ask(enough, what).records


@pytest.mark.parametrize(
    ("order", "told"),
    [({"split": "train"}, "split 'train' is unknown; known: validation, test"), ({"arm": "other"}, "arm 'other'")],
)
def test_scores_of_what_no_study_asks_for_are_refused_by_name(tmp_path: Path, order: dict[str, str], told: str) -> None:
    refused = _refusal(_site(tmp_path), order.get("arm", BEST), split=order.get("split", "test"))
    assert refused.code is Reason.SITE_FAILED
    assert told in str(refused)


@pytest.mark.parametrize("arm", [BEST, PERSONALISED, ALONE])
def test_sums_that_could_not_be_made_are_told_by_name_for_every_arm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arm: str
) -> None:
    score = FakeData.score

    def few(data: FakeData, *args: Any, **options: Any) -> Scores:
        return score(data, *args, **options).model_copy(update={"suppressed": ["pixels"]})

    monkeypatch.setattr(FakeData, "score", few)
    reply = _ask(_site(tmp_path), arm)
    assert reply.suppressed == ["pixels"]
    assert guard(reply, Disclosure(), WORDS).reply.suppressed == ["pixels"]
