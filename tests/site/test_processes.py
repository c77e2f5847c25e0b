"""Work side by side: threads shared out, failures named, no process left behind."""

import os
import time

import pytest

from support import process_tasks
from wardround.records.reasons import Reason, WardroundError
from wardround.site.processes import Task, run_side_by_side


def gone(pid: int) -> bool:
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def test_all_run_with_their_share_of_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    messages: list[tuple[str, int, str, str]] = []
    tasks = [Task(name, process_tasks.say_and_finish, (name,)) for name in ("x", "y")]
    run_side_by_side(tasks, messages.append, cores=4)
    assert sorted(messages) == [("x", 2, "2", "PASSIVE"), ("y", 2, "2", "PASSIVE")]
    assert "OMP_NUM_THREADS" not in os.environ


def test_a_process_goes_on_to_the_next_task() -> None:
    messages: list[tuple[str, int]] = []
    tasks = [Task(name, process_tasks.say_pid, (name,)) for name in ("x", "y", "z")]
    run_side_by_side(tasks, messages.append, cores=1)
    assert [name for name, _ in messages] == ["x", "y", "z"]
    assert len({pid for _, pid in messages}) == 1
    assert gone(messages[0][1])


@pytest.mark.parametrize(("work", "told"), [("die", "exit code 7"), ("fail", "ValueError: a plain failure")])
def test_a_failure_names_its_task_and_ends_the_others(work: str, told: str) -> None:
    pids: list[int] = []
    waiting = Task("waiting", process_tasks.say_pid_and_wait, ())
    failing = Task("alone:hospital-a", getattr(process_tasks, work), ())
    with pytest.raises(WardroundError, match=f"alone:hospital-a: .*{told}") as caught:
        run_side_by_side([waiting, failing], pids.append, cores=2)
    assert caught.value.code is Reason.SITE_FAILED
    assert all(gone(pid) for pid in pids)


def test_ctrl_c_leaves_no_process() -> None:
    pids: list[int] = []

    def interrupt(pid: int) -> None:
        pids.append(pid)
        if len(pids) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_side_by_side([Task(n, process_tasks.say_pid_and_wait, ()) for n in ("x", "y")], interrupt, cores=2)
    assert len(pids) == 2
    assert all(gone(pid) for pid in pids)
