"""Files that are either whole or absent, and folders for their owner alone."""

import hashlib
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wardround.records.reasons import Reason, WardroundError

_OWNER_ONLY = 0o700
_CHUNK = 1 << 20


def write_whole(path: Path, content: bytes) -> None:
    """Writes bytes; a kill leaves the old file or the new one."""
    with whole_file(path) as unfinished:
        unfinished.write_bytes(content)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yields a path beside the target, of the same ending, to write to; what is there at the end takes its place.

    It is flushed to disk before it is renamed. Where the block raises, the target stays as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{uuid.uuid4().hex}.{path.name}")
    try:
        yield unfinished
        with unfinished.open("rb") as stream:
            os.fsync(stream.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Flushes what was renamed in a folder to disk, so that a power cut cannot undo it."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def writable_folder(folder: Path, key: str) -> Path:
    """Makes a private folder that a site.yaml names under `key`, and tries a file in it.

    Raises:
        WardroundError: it cannot be written.
    """
    try:
        private_folder(folder)
        probe = folder / f".probe-{uuid.uuid4().hex}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"{key} {folder}: cannot be written ({error.strerror}); name a folder that this user may write",
        ) from error
    return folder


def private_folder(folder: Path) -> Path:
    """Makes a folder, and those above it that are missing, for this user alone. One that is there keeps its rights."""
    for missing in reversed([one for one in (folder, *folder.parents) if not one.exists()]):
        missing.mkdir(mode=_OWNER_ONLY, exist_ok=True)
    return folder


def sha256_of(file: Path) -> str:
    """Of a file's bytes, in hexadecimal."""
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(_CHUNK):
            digest.update(block)
    return digest.hexdigest()
