"""What the hospital's rules do to a task: before it, in the middle of it, and while it waits."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from support.fake_workload import make_study
from support.played_worker import PlayedWorkers, done
from wardround.records.arms import ALONE
from wardround.records.orders import Order, Reply
from wardround.records.reasons import Reason, WardroundError
from wardround.site import supervised_tasks
from wardround.site.config import SiteConfig
from wardround.site.permission import Permission
from wardround.site.refusal import Refusal
from wardround.site.supervised_tasks import SupervisedTasks
from wardround.site.windows import TrainingWindows
from wardround.site.worker_messages import Answer

ORDER = Order(run="run", deadline_seconds=3600)
PAUSED = Answer(kind="paused")
START = datetime(2026, 11, 30, 12, tzinfo=UTC)


class Hospital:
    """A clock that goes on by a second a look, and a rule over it."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.rule: Callable[[str, datetime], Refusal | None] = lambda _task, _now: None

    def refusal(self, task: str, now: datetime) -> Refusal | None:
        return self.rule(task, now)

    def second(self) -> None:
        self.seconds += 1

    @property
    def now(self) -> datetime:
        return START + timedelta(seconds=self.seconds)

    def closed(self, start: float, end: float | None, reason: Reason = Reason.NOT_NOW) -> None:
        """Refuses training from one second to another, which is known beforehand."""
        until = None if end is None else START + timedelta(seconds=end)

        def rule(task: str, now: datetime) -> Refusal | None:
            shut = now >= START + timedelta(seconds=start) and (until is None or now < until)
            return Refusal(reason, "closed", until) if task == "train" and shut else None

        self.rule = rule


@pytest.fixture
def hospital(monkeypatch: pytest.MonkeyPatch) -> Hospital:
    hospital = Hospital()
    monkeypatch.setattr(supervised_tasks, "_now", lambda: hospital.now)
    monkeypatch.setattr(supervised_tasks.time, "monotonic", lambda: hospital.seconds)
    monkeypatch.setattr(supervised_tasks.time, "sleep", lambda _seconds: hospital.second())
    monkeypatch.setattr(supervised_tasks, "site_permission", lambda _study, _config: Permission([hospital]))
    return hospital


def _tasks(workers: PlayedWorkers, **config: object) -> SupervisedTasks:
    site = SiteConfig.model_validate({"name": "hospital-a", "data": {"fake": {}}, **config})
    return SupervisedTasks(make_study(), site, threads=1, log_folder=None, start=workers)


def _train(tasks: SupervisedTasks, aborted: Callable[[], bool] = lambda: False, order: Order = ORDER) -> Reply:
    return tasks.do("train", order, None, aborted)[0]


def test_one_worker_does_all_tasks_and_starts_at_the_first(hospital: Hospital) -> None:
    workers = PlayedWorkers([done(), None, done()], on_look=hospital.second)
    tasks = _tasks(workers)
    assert not workers.started
    tasks.do("prepare", ORDER, None, lambda: False)
    _train(tasks)
    assert [worker.asked for worker in workers.started] == [["prepare", "train"]]


def test_outside_its_hours_a_site_answers_at_once_and_starts_nothing(hospital: Hospital) -> None:
    hospital.closed(0, 60)  # before the deadline: an order that comes in this time is not waited with
    workers = PlayedWorkers([done()], on_look=hospital.second)
    tasks = _tasks(workers)
    with pytest.raises(WardroundError) as caught:
        _train(tasks)
    assert caught.value.code is Reason.NOT_NOW
    assert hospital.seconds == 0
    assert not workers.started
    tasks.do("validate", ORDER, None, lambda: False)


def test_training_that_is_paused_frees_the_device_and_goes_on_before_the_deadline(hospital: Hospital) -> None:
    hospital.closed(3, 600)
    reply = Reply(notes=["second_worker"])
    workers = PlayedWorkers([None, None, None, None, None, PAUSED], [None, done(reply)], on_look=hospital.second)
    tasks = _tasks(workers)
    assert _train(tasks) == reply
    first, second = workers.started
    assert first.pauses > 0
    assert not first.alive
    assert second.asked == ["train"]
    assert hospital.seconds >= 600


@pytest.mark.parametrize(("opens", "deadline"), [(3600, 3600), (None, 3600), (600, 0)])
def test_where_it_opens_too_late_for_the_round_the_site_says_so_and_frees_the_device(
    hospital: Hospital, opens: float | None, deadline: int
) -> None:
    hospital.closed(3, opens)
    workers = PlayedWorkers([None, None, None, None, None, PAUSED], on_look=hospital.second)
    with pytest.raises(WardroundError) as caught:
        _train(_tasks(workers), order=ORDER.model_copy(update={"deadline_seconds": deadline}))
    assert caught.value.code is Reason.NOT_NOW
    assert not workers.started[0].alive
    assert hospital.seconds < 60


def test_what_is_done_before_it_can_be_paused_counts(hospital: Hospital) -> None:
    hospital.closed(2, None)
    workers = PlayedWorkers([None, None, None, done()], on_look=hospital.second)
    assert _train(_tasks(workers)).error is None
    assert workers.started[0].pauses > 0


def test_a_consent_that_is_taken_back_ends_a_task_at_once(hospital: Hospital) -> None:
    hospital.closed(3, None, Reason.SITE_FAILED)
    workers = PlayedWorkers([None] * 10, on_look=hospital.second)
    with pytest.raises(WardroundError) as caught:
        _train(_tasks(workers))
    assert caught.value.code is Reason.SITE_FAILED
    assert workers.started[0].pauses == 0
    assert not workers.started[0].alive


def test_scoring_that_is_not_allowed_any_more_is_ended_and_not_paused(hospital: Hospital) -> None:
    hospital.rule = lambda _task, now: Refusal(Reason.NOT_NOW, "closed") if now > START + timedelta(seconds=2) else None
    workers = PlayedWorkers([None] * 10, on_look=hospital.second)
    with pytest.raises(WardroundError):
        _tasks(workers).do("validate", ORDER, None, lambda: False)
    assert not workers.started[0].alive


OWN_MODEL = ORDER.model_copy(update={"arm": ALONE, "split": "test"})


def test_the_sites_own_model_is_trained_in_its_hours_alone(hospital: Hospital) -> None:
    hospital.closed(0, 60)
    workers = PlayedWorkers([done()], on_look=hospital.second)
    with pytest.raises(WardroundError) as caught:
        _tasks(workers).do("validate", OWN_MODEL, None, lambda: False)
    assert caught.value.code is Reason.NOT_NOW
    assert not workers.started


def test_the_training_of_the_sites_own_model_is_paused_and_goes_on(hospital: Hospital) -> None:
    hospital.closed(3, 600)
    workers = PlayedWorkers([None, None, None, None, None, PAUSED], [None, done()], on_look=hospital.second)
    assert _tasks(workers).do("validate", OWN_MODEL, None, lambda: False)[0].error is None
    first, second = workers.started
    assert first.pauses > 0
    assert second.asked == ["validate"]
    assert hospital.seconds >= 600


def test_a_job_that_ends_while_a_site_waits_ends_the_wait(hospital: Hospital) -> None:
    hospital.closed(3, 600)
    workers = PlayedWorkers([None, None, None, None, None, PAUSED], on_look=hospital.second)
    with pytest.raises(WardroundError) as caught:
        _train(_tasks(workers), lambda: hospital.seconds > 100)
    assert caught.value.code is Reason.INTERRUPTED
    assert hospital.seconds < 200


def test_a_round_that_is_closed_while_a_site_waits_ends_the_wait_and_no_training_that_runs(hospital: Hospital) -> None:
    hospital.closed(30, 600)
    looks = [None] * 40
    workers = PlayedWorkers([*looks, PAUSED], on_look=hospital.second)
    with pytest.raises(WardroundError) as caught:
        _tasks(workers).do("train", ORDER, None, lambda: False, lambda: True)
    assert caught.value.code is Reason.LATE
    assert len(looks) <= hospital.seconds < 60


@pytest.mark.parametrize(
    "first",
    [
        WardroundError(Reason.WORKER_DIED, "SIGKILL"),
        Answer(kind="failed", reply=Reply(error=Reason.OUT_OF_MEMORY), sound=False),
    ],
    ids=["died", "not sound"],
)
def test_after_a_death_or_a_failure_that_may_have_left_anything_behind_another_is_started(
    hospital: Hospital, first: Answer | WardroundError
) -> None:
    workers = PlayedWorkers([first], [done()], on_look=hospital.second)
    tasks = _tasks(workers)
    if isinstance(first, WardroundError):
        with pytest.raises(WardroundError):
            _train(tasks)
    else:
        assert _train(tasks).error is Reason.OUT_OF_MEMORY
    assert _train(tasks).error is None
    assert [worker.alive for worker in workers.started] == [False, True]


def test_an_ordinary_failure_keeps_the_worker(hospital: Hospital) -> None:
    failed = Answer(kind="failed", reply=Reply(error=Reason.DATA_MISSING))
    workers = PlayedWorkers([failed, done()], on_look=hospital.second)
    tasks = _tasks(workers)
    assert _train(tasks).error is Reason.DATA_MISSING
    assert _train(tasks).error is None


def test_one_that_died_unnoticed_is_replaced_without_a_word_to_the_server(hospital: Hospital) -> None:
    workers = PlayedWorkers([done()], [done()], on_look=hospital.second)
    tasks = _tasks(workers)
    _train(tasks)
    workers.started[0].alive = False
    assert _train(tasks).error is None
    assert len(workers.started) == 2


def test_training_and_scoring_count_as_device_hours_and_preparing_does_not(hospital: Hospital, tmp_path: Path) -> None:
    windows = TrainingWindows.model_validate({"time_zone": "UTC", "device_hours_a_day": 1.0})
    looks = [None] * 20
    workers = PlayedWorkers([*looks, done(), *looks, done(), *looks, done()], on_look=hospital.second)
    tasks = _tasks(workers, training_windows=windows, state_folder=tmp_path)
    hours = supervised_tasks.DeviceHours(tmp_path)
    today = windows.day(datetime.now(UTC))
    used = []
    for task in ("prepare", "train", "validate"):
        tasks.do(task, ORDER, None, lambda: False)
        used.append(round(3600 * hours.used(today)))
    tasks.end()
    assert used == [0, 21, 42]


def test_an_idle_worker_is_ended_when_training_is_not_allowed_any_more(hospital: Hospital) -> None:
    windows = TrainingWindows.model_validate({"time_zone": "UTC", "device_hours_a_day": 1.0})
    workers = PlayedWorkers([done()], on_look=hospital.second)
    tasks = _tasks(workers, training_windows=windows)
    tasks.do("prepare", ORDER, None, lambda: False)
    tasks._end_if_idle()
    assert workers.started[0].alive
    hospital.closed(0, None)
    with tasks._busy:
        tasks._end_if_idle()  # a task runs: it is not touched
    assert workers.started[0].alive
    tasks._end_if_idle()
    assert not workers.started[0].alive
