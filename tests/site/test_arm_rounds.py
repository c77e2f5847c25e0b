"""A hospital's own model whose training is paused, or ended, again and again is the model of training that was not."""

import logging
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
import torch

from support.fake_workload import FakeData, FakeWorkload, make_study
from wardround.learners.checkpoint import load_checkpoint
from wardround.learners.pausing import Paused, Pauses
from wardround.records.run_lines import BaselineRoundLine, RunLine, ScoreLine
from wardround.records.study import Study
from wardround.site.arm_rounds import Arm
from wardround.site.baseline_arm import train_and_score
from wardround.site.config import SiteConfig
from wardround.site.open_site import OpenSite

STEPS, ROUNDS = 3, 5
ARM = Arm("alone:hospital-a", ("hospital-a",))
TRAINING = {"rounds": ROUNDS, "local_steps": STEPS, "learning_rate": 0.05, "optimizer": "adamw", "schedule": "cosine"}
STUDY = make_study(training=TRAINING, evaluation={"key_metric": "accuracy", "evaluate_every": 2})


def _after(calls: int) -> Callable[[], bool]:
    """True from the call of this number on; training asks before each step."""
    counter = count()
    return lambda: next(counter) >= calls


class Site:
    """A hospital with a state folder, opened anew for each try, as a new worker process does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lines: list[RunLine] = []
        self.steps = 0

    @property
    def pauses(self) -> Path:
        return self.folder / "state" / "paused-alone"

    def train(
        self,
        stop_after: int | None = None,
        *,
        study: Study = STUDY,
        cases: int = 6,
        patients: int = 1,
        wanted: object = None,
    ) -> None:
        config = SiteConfig(
            name="hospital-a",
            synthetic=True,
            state_folder=self.folder / "state",
            cache_folder=self.folder,
            data={"fake": {}},
        )
        data = FakeData(patients, cases=cases)
        asked = wanted or (_after(stop_after) if stop_after is not None else lambda: False)

        def wanted_now() -> bool:
            if pause := asked():  # type: ignore[operator]
                return pause
            self.steps += 1
            return False

        train_and_score(
            ARM,
            study,
            [config],
            "r",
            self.folder / "out",
            lambda *_: OpenSite(FakeWorkload(dropout=0.3), data),
            self.lines.append,
            pauses=Pauses(self.pauses, wanted_now),
        )

    @property
    def score(self) -> ScoreLine:
        (line,) = (line for line in self.lines if isinstance(line, ScoreLine))
        return line

    @property
    def rounds(self) -> list[BaselineRoundLine]:
        return [line for line in self.lines if isinstance(line, BaselineRoundLine)]

    @property
    def weights(self) -> str:
        return load_checkpoint(self.folder / "out" / "models" / "alone-hospital-a").card.weights_sha256


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Site:
    site = Site(tmp_path_factory.mktemp("whole"))
    site.train()
    assert site.steps == STEPS * ROUNDS
    return site


def _same(one: Site, other: Site) -> None:
    assert one.weights == other.weights
    assert one.score == other.score
    assert one.rounds == other.rounds
    assert not list(one.pauses.iterdir())  # nothing is kept of what is done


@pytest.mark.parametrize("allowed", [1, 2, STEPS, STEPS + 1, 2 * STEPS + 2])
def test_windows_of_few_steps_come_to_an_end_with_the_bits_of_one_long_window(
    tmp_path: Path, whole: Site, allowed: int
) -> None:
    site, windows = Site(tmp_path), 0
    while True:
        windows += 1
        torch.rand(windows)  # what else a process drew
        try:
            site.train(allowed)
            break
        except Paused:
            assert windows <= STEPS * ROUNDS / allowed
    assert windows == -(-STEPS * ROUNDS // allowed)
    assert site.steps == STEPS * ROUNDS  # none is made twice
    _same(site, whole)


def test_a_worker_that_dies_costs_the_round_it_was_in_and_no_more(tmp_path: Path, whole: Site) -> None:
    def die() -> bool:
        if site.steps == 2 * STEPS + 1:
            raise MemoryError
        return False

    site = Site(tmp_path)
    with pytest.raises(MemoryError):
        site.train(wanted=die)
    (file,) = site.pauses.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    site.train()
    assert site.steps == STEPS * ROUNDS + 1
    _same(site, whole)


def test_a_worker_that_dies_after_the_last_round_leaves_the_scoring_alone(
    tmp_path: Path, whole: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("wardround.site.baseline_arm.save_checkpoint", _no_memory)
        with pytest.raises(MemoryError):
            site.train()
    site.train()
    assert site.steps == STEPS * ROUNDS
    _same(site, whole)


def _no_memory(*_: object) -> None:
    raise MemoryError


@pytest.mark.parametrize(
    "unlike",
    [{"study": make_study(training={**TRAINING, "learning_rate": 0.04})}, {"cases": 7}, {"patients": 2}],
    ids=["another study", "another patient", "as many other patients"],
)
def test_what_another_study_or_other_data_left_is_not_gone_on_from(tmp_path: Path, unlike: dict[str, object]) -> None:
    expected = Site(tmp_path / "expected")
    expected.train(**unlike)  # type: ignore[arg-type]
    site = Site(tmp_path / "site")
    with pytest.raises(Paused):
        site.train(2 * STEPS + 1)
    site.lines.clear()
    site.steps = 0
    site.train(**unlike)  # type: ignore[arg-type]
    assert site.steps == STEPS * ROUNDS
    _same(site, expected)


@pytest.mark.parametrize("keep", [0, 100, -1])
def test_a_file_that_is_cut_short_costs_what_was_trained(tmp_path: Path, whole: Site, keep: int) -> None:
    site = Site(tmp_path)
    with pytest.raises(Paused):
        site.train(2 * STEPS)
    file = site.pauses / "rounds.safetensors"
    file.write_bytes(file.read_bytes()[:keep])
    site.lines.clear()
    site.train()
    _same(site, whole)


def test_a_full_disk_costs_what_is_kept_and_not_the_training(
    tmp_path: Path, whole: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object, **_options: object) -> None:
        raise OSError(28, "No space left on device")

    site = Site(tmp_path)
    site.pauses.mkdir(parents=True)
    monkeypatch.setattr("wardround.site.arm_progress.write_whole", full)
    with caplog.at_level(logging.WARNING, "wardround.site.arm_progress"):
        site.train()
    assert "No space left on device" in caplog.text
    _same(site, whole)
