"""A learner opened from site.yaml: FedBN's entries outlive it, in a folder of this run and study."""

from pathlib import Path

import pytest

from support.fake_workload import FakeWorkload, make_study
from wardround.learners.fedbn import FedBNLearner
from wardround.learners.learner import Learner
from wardround.records.reasons import WardroundError
from wardround.site import open_site
from wardround.site.config import SiteConfig


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SiteConfig:
    monkeypatch.setattr(open_site, "make_workload", lambda _study: FakeWorkload())
    return SiteConfig(name="hospital-a", state_folder=tmp_path / "state", data={"fake": {"seed": 1}})


def test_the_study_decides_the_class_and_only_fedbn_makes_a_folder(config: SiteConfig) -> None:
    assert type(open_site.open_learner(make_study(), config, run="r")) is Learner
    assert not config.state_folder.exists()
    fedbn = open_site.open_learner(make_study(algorithm={"kind": "fedbn"}), config, run="r")
    assert type(fedbn) is FedBNLearner
    assert (config.state_folder / "r" / "kept" / "owner.json").is_file()


def test_kept_entries_outlive_the_process(config: SiteConfig) -> None:
    study = make_study(algorithm={"kind": "fedbn"})
    first = open_site.open_learner(study, config, run="r")
    shared = first.shared_entries()
    first.load(shared, model_round=0)
    first.train(0)
    trained = first.own_entries()

    again = open_site.open_learner(study, config, run="r")
    again.acknowledge(0)
    again.load(shared, model_round=1)
    assert all(again.own_entries()[name].equal(trained[name]) for name in again.kept_names)
    assert again.notes == ()


def test_entries_of_another_study_are_refused(config: SiteConfig) -> None:
    open_site.open_learner(make_study(algorithm={"kind": "fedbn"}), config, run="r")
    with pytest.raises(WardroundError, match="study_digest"):
        open_site.open_learner(make_study(algorithm={"kind": "fedbn"}, seed=1), config, run="r")
    open_site.open_learner(make_study(algorithm={"kind": "fedbn"}, seed=1), config, run="another")


def test_a_site_without_data_for_the_workload_is_told(config: SiteConfig) -> None:
    with pytest.raises(WardroundError, match=r"data\.fake"):
        open_site.open_site(make_study(), config.model_copy(update={"data": {"other": {}}}))
