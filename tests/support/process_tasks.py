"""What spawned processes of the tests run: found by import, so it lives in a module, and a light one."""

import os
import time
from typing import Any


def say_and_finish(text: str, emit: Any) -> None:
    import torch

    emit((text, torch.get_num_threads(), os.environ["OMP_NUM_THREADS"], os.environ["OMP_WAIT_POLICY"]))


def say_pid(text: str, emit: Any) -> None:
    emit((text, os.getpid()))


def die(emit: Any) -> None:
    os._exit(7)


def fail(emit: Any) -> None:
    raise ValueError("a plain failure")


def say_pid_and_wait(emit: Any) -> None:
    emit(os.getpid())
    time.sleep(600)
