"""Nothing that was started outlives its run, and nothing else is touched."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from wardround.flare.marked_processes import MarkedProcesses

# leaves a child in a session of its own and exits, as FLARE's start scripts do
_DAEMON = (
    "import subprocess, sys; "
    "subprocess.Popen([sys.executable, '-c', 'import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    "time.sleep(60)'], start_new_session=True)"
)


def test_a_grandchild_in_another_session_that_ignores_requests_is_ended(tmp_path: Path) -> None:
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    children = MarkedProcesses()
    try:
        children.start([sys.executable, "-c", _DAEMON], tmp_path / "log").wait(30)
        time.sleep(0.5)
        assert len(children.alive()) == 1
        children.end_all(grace_seconds=0.5)
        assert children.alive() == []
        assert bystander.poll() is None
    finally:
        children.end_all(grace_seconds=0.1)
        bystander.kill()
        bystander.wait()


def test_a_second_request_to_stop_does_not_leave_a_process(tmp_path: Path) -> None:
    children = MarkedProcesses()
    try:
        children.start([sys.executable, "-c", _DAEMON], tmp_path / "log").wait(30)
        time.sleep(0.5)
        impatient = [threading.Timer(0.2, os.kill, (os.getpid(), number)) for number in (signal.SIGINT, signal.SIGTERM)]
        for timer in impatient:
            timer.start()
        children.end_all(grace_seconds=1)
        for timer in impatient:
            timer.join()
        assert children.alive() == []
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        children.end_all(grace_seconds=0.1)


def test_output_goes_to_the_log_and_the_environment_is_passed_on(tmp_path: Path) -> None:
    children = MarkedProcesses({"OMP_WAIT_POLICY": "PASSIVE"})
    command = [sys.executable, "-c", "import os; print(os.environ['OMP_WAIT_POLICY'])"]
    for _ in range(2):
        assert children.start(command, tmp_path / "log").wait(30) == 0
    assert (tmp_path / "log").read_text() == "PASSIVE\nPASSIVE\n"
