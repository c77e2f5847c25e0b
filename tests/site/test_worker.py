"""A site's worker process: what it gives is what its tasks give here, and it never outlives or brings down another."""

import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import psutil
import pytest
import torch

from support.small_risk import first_entries, risk_site, risk_study
from wardround.flare.site_causes import first_cause
from wardround.records.orders import PREPARE, TRAIN, Order, Reply
from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import Study
from wardround.site import supervised_tasks
from wardround.site.config import SiteConfig
from wardround.site.permission import Permission
from wardround.site.refusal import Refusal
from wardround.site.supervised_tasks import SupervisedTasks
from wardround.site.tasks import SiteTasks
from wardround.site.worker import Worker

STUDY = risk_study()
SHARED = first_entries(STUDY)
FIRST = Order(run="run")
SECOND = Order(run="run", round=1, model_round=1, acknowledged={"hospital-a": 0})


def never() -> bool:
    return False


def gone(pid: int) -> bool:
    deadline = time.monotonic() + 180  # one that is still loading torch hears of the end only then
    while time.monotonic() < deadline:
        if not psutil.pid_exists(pid) or _can_be_waited_for(pid):
            return True
        time.sleep(0.05)
    return False


def _can_be_waited_for(pid: int) -> bool:
    """Whether all of it has ended: a process whose main thread has may still hold its files with the others."""
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:  # another's child
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> SiteConfig:
    return risk_site(tmp_path_factory.mktemp("hospitals"))


@pytest.fixture
def config(site: SiteConfig, tmp_path: Path) -> SiteConfig:
    """Every test has a state folder of its own."""
    return site.model_copy(update={"state_folder": tmp_path / "state"})


@pytest.fixture
def tasks(config: SiteConfig) -> Iterator[SupervisedTasks]:
    tasks = SupervisedTasks(STUDY, config, threads=1, log_folder=config.state_folder)
    config.state_folder.mkdir()
    yield tasks
    tasks.end()


def _pid(tasks: SupervisedTasks) -> int:
    assert isinstance(tasks._worker, Worker)
    return tasks._worker.pid


def _without_time(reply: Reply) -> Reply:
    assert reply.report is not None
    return reply.model_copy(update={"report": reply.report.model_copy(update={"seconds": {}})})


def _in_this_process(config: SiteConfig, folder: Path, study: Study = STUDY) -> SiteTasks:
    torch.set_num_threads(1)
    return SiteTasks(study, config.model_copy(update={"state_folder": folder}))


def _kill_at_first_look(tasks: SupervisedTasks, number: signal.Signals) -> Callable[[], bool]:
    """FLARE's abort signal is looked at while a task runs: a moment at which it cannot have ended."""
    pids: list[int] = []

    def look() -> bool:
        if not pids:
            pids.append(_pid(tasks))
            os.kill(pids[0], number)
        return False

    return look


def test_the_process_gives_the_bits_that_the_tasks_give_here_and_a_killed_one_is_followed_by_another(
    tasks: SupervisedTasks, config: SiteConfig, tmp_path: Path
) -> None:
    here = _in_this_process(config, tmp_path / "here")
    prepared, _ = tasks.do(PREPARE, FIRST, None, never)
    assert prepared == here.prepare(FIRST)
    reply, difference = tasks.do(TRAIN, FIRST, SHARED, never)
    expected, expected_difference = here.train(FIRST, SHARED)
    assert _without_time(reply) == _without_time(expected)
    assert difference is not None
    assert all(torch.equal(difference[name], tensor) for name, tensor in expected_difference.items())

    first = _pid(tasks)
    os.kill(first, signal.SIGSTOP)  # so that it cannot have answered
    with pytest.raises(WardroundError, match="SIGKILL") as caught:
        tasks.do(TRAIN, SECOND, SHARED, _kill_at_first_look(tasks, signal.SIGKILL))
    assert caught.value.code is Reason.WORKER_DIED
    assert gone(first)

    third = SECOND.model_copy(update={"round": 2, "model_round": 2})  # round 1's update never came
    reply, difference = tasks.do(TRAIN, third, SHARED, never)
    expected, expected_difference = here.train(third, SHARED)  # without round 1: with the entries kept in round 0
    assert _pid(tasks) != first
    assert _without_time(reply) == _without_time(expected)
    assert difference is not None
    assert all(torch.equal(difference[name], tensor) for name, tensor in expected_difference.items())


def test_training_that_a_window_ends_goes_on_in_another_process_to_the_same_bits(
    tasks: SupervisedTasks, config: SiteConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = risk_study(local_steps=1500)
    here = _in_this_process(config, tmp_path / "here", long)
    here.train(FIRST, SHARED)
    expected, expected_difference = here.train(SECOND, SHARED)
    looks, closes_after = [0], 0

    class Window:
        """Closes in the middle of training."""

        def refusal(self, task: str, now: datetime) -> Refusal | None:
            return Refusal(Reason.NOT_NOW, "closed") if looks[0] > closes_after else None

    def look() -> bool:
        looks[0] += 1
        return False

    tasks._opening = replace(tasks._opening, study=long)
    taken = 0
    while not taken:  # a busy machine may not have come to the first step
        monkeypatch.undo()
        tasks._permission = Permission()
        tasks.do(TRAIN, FIRST, SHARED, never)  # torch takes seconds before a process' first step
        pid, looks[0], closes_after = _pid(tasks), 0, closes_after + 4
        monkeypatch.setattr(supervised_tasks, "_ASK_SECONDS", 0.0)
        monkeypatch.setattr(supervised_tasks, "_LOOK_SECONDS", 0.02)
        tasks._permission = Permission([Window()])
        with pytest.raises(WardroundError) as caught:
            tasks.do(TRAIN, SECOND, SHARED, look)
        assert caught.value.code is Reason.NOT_NOW
        assert gone(pid)
        log = (config.state_folder / "site.log").read_text()
        taken = int(re.findall(r"training is paused after (\d+) of 1500 steps", log)[-1])
    assert taken < 1500
    monkeypatch.undo()
    tasks._permission = Permission()
    reply, difference = tasks.do(TRAIN, SECOND, SHARED, never)
    assert _without_time(reply) == _without_time(expected)
    assert difference is not None
    assert all(torch.equal(difference[name], tensor) for name, tensor in expected_difference.items())
    assert not list((config.state_folder / "run" / "paused").iterdir())


def test_one_that_died_between_two_tasks_costs_no_answer(tasks: SupervisedTasks) -> None:
    tasks.do(PREPARE, FIRST, None, never)
    first = _pid(tasks)
    os.kill(first, signal.SIGKILL)
    assert gone(first)
    reply, _ = tasks.do(PREPARE, FIRST, None, never)
    assert reply.manifest is not None


def test_a_crash_says_where_in_the_sites_log_alone(
    tasks: SupervisedTasks, config: SiteConfig, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(WardroundError, match="SIGSEGV"):
        tasks.do(PREPARE, FIRST, None, _kill_at_first_look(tasks, signal.SIGSEGV))
    assert "Fatal Python error: Segmentation fault" in (config.state_folder / "site.log").read_text()
    captured = capfd.readouterr()
    assert "Segmentation" not in captured.out + captured.err


def test_flares_abort_signal_ends_a_task_and_its_process_at_once(tasks: SupervisedTasks) -> None:
    pids: list[int] = []

    def aborted() -> bool:
        pids.append(_pid(tasks))
        return True

    with pytest.raises(WardroundError) as caught:
        tasks.do(PREPARE, FIRST, None, aborted)
    assert caught.value.code is Reason.INTERRUPTED
    assert len(pids) == 1
    assert gone(pids[0])


def test_a_failures_words_are_in_the_sites_log_and_its_code_in_the_reply(
    tasks: SupervisedTasks, config: SiteConfig
) -> None:
    missing = {
        key: {**section, "source": {"kind": "csv", "file": "/patient-0042.csv"}} for key, section in config.data.items()
    }
    broken = SupervisedTasks(
        STUDY, config.model_copy(update={"data": missing}), threads=1, log_folder=config.state_folder
    )
    try:
        reply, tensors = broken.do(PREPARE, FIRST, None, never)
    finally:
        broken.end()
    assert (reply, tensors) == (Reply(error=Reason.DATA_MISSING), None)
    cause = first_cause((config.state_folder / "site.log").read_text())  # an entry of the log, as others are
    assert cause is not None
    assert "patient-0042" in cause


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_it_ends_when_the_executors_process_is_killed(
    config: SiteConfig, tmp_path: Path, number: signal.Signals
) -> None:
    script = tmp_path / "parent.py"
    script.write_text(
        textwrap.dedent(
            f"""
            from pathlib import Path
            from wardround.records.orders import Order
            from wardround.site.supervised_tasks import SupervisedTasks
            from wardround.site.config import load_site_config
            from support.small_risk import risk_study
            config = load_site_config(Path({str(config.source)!r}))
            tasks = SupervisedTasks(risk_study(), config, threads=1, log_folder=None)
            tell = lambda: print(tasks._worker.pid, flush=True)
            tasks.do("prepare", Order(run="run"), None, tell)
            """
        )
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True, env=environment) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        os.kill(pid, signal.SIGSTOP if number is signal.SIGTERM else signal.SIGCONT)
        parent.send_signal(number)
        os.kill(pid, signal.SIGCONT)
        parent.wait()
    assert gone(pid)


def test_it_has_the_threads_that_it_is_given_and_leads_a_group_of_its_own(config: SiteConfig) -> None:
    tasks = SupervisedTasks(STUDY, config, threads=3, log_folder=None)
    try:
        tasks.do(PREPARE, FIRST, None, never)
        pid = _pid(tasks)
        assert psutil.Process(pid).environ()["OMP_NUM_THREADS"] == "3"
        assert os.getpgid(pid) == pid
    finally:
        tasks.end()
    assert gone(pid)
