"""Which cases a process was reading when it died: nobody catches a crash within a C library, or a kill."""

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from wardround.records.files import give_to_owner

_FOLDER = "being_read"


@contextmanager
def being_read(cache: Path, case: str) -> Iterator[None]:
    """Says in a file that a case is being read, for as long as it is.

    The file is locked by its process, and so is found unlocked where the process died within the block. It is a help
    alone: where it cannot be written, the case is read all the same.

    Args:
        cache: the workload's folder in the site's cache, which is named as the workload.
        case: its id.
    """
    file = cache / _FOLDER / hashlib.sha256(case.encode(errors="replace")).hexdigest()
    lock = None
    with suppress(OSError):
        lock = _locked(file, case)
    try:
        yield
    finally:
        if lock is not None:
            file.unlink(missing_ok=True)
            os.close(lock)


def ended_while_read(cache: Path) -> list[str]:
    """The cases at which processes died, as far as none has read them whole since."""
    return sorted(case for _, case in _left(cache))


def forget(cache: Path) -> None:
    """Forgets such cases, since each that is left is read by itself from now on."""
    for file, _ in _left(cache):
        file.unlink(missing_ok=True)


def _locked(file: Path, case: str) -> int | None:
    """A descriptor with the lock; None where another process reads the case too."""
    if not file.parent.is_dir():
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        give_to_owner(file.parent)
    descriptor = os.open(file, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(descriptor, 0)
        os.write(descriptor, case.encode(errors="replace"))
    except OSError:
        os.close(descriptor)
        return None
    give_to_owner(file)
    return descriptor


def _left(cache: Path) -> list[tuple[Path, str]]:
    found = []
    for file in (cache / _FOLDER).glob("*"):
        with suppress(OSError), file.open("rb") as stream:  # OSError: it is locked, so its process lives, or gone
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
            found.append((file, stream.read().decode(errors="replace")))
    return found
