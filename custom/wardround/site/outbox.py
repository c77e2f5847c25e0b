"""The outbox: `<state_folder>/outbox.jsonl`, every message that left the site, one line each, for its own admin."""

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from wardround.records.files import private_folder
from wardround.records.outbox import FILE_NAME, OutboxLine

_OWNER_ONLY = 0o600


def write_line(folder: Path, line: OutboxLine) -> None:
    """Adds one line and has it on the disk before it returns. A line is whole, or it is not there.

    Jobs that run at the same time share the file, so it is locked meanwhile.

    Raises:
        OSError: it cannot be written, such as on a full disk; what was written of it is taken back.
    """
    private_folder(folder)
    content = line.model_dump_json(exclude_defaults=True).encode() + b"\n"
    descriptor = os.open(folder / FILE_NAME, os.O_RDWR | os.O_CREAT | os.O_APPEND, _OWNER_ONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":  # a kill cut the line before short
            content = b"\n" + content
        try:
            _write_all(descriptor, content)
            os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, size)
            raise
    finally:
        os.close(descriptor)  # which gives the lock back


def read_lines(folder: Path) -> Iterator[OutboxLine]:
    """What left, the oldest first; a line that a kill cut short is left out."""
    file = folder / FILE_NAME
    if not file.is_file():
        return
    with file.open(encoding="utf-8") as stream:
        for text in stream:
            try:
                yield OutboxLine.model_validate_json(text)
            except ValidationError:
                continue


def _write_all(descriptor: int, content: bytes) -> None:
    written = 0
    while written < len(content):
        written += os.write(descriptor, content[written:])
