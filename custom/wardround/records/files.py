"""Files that are either whole or absent, and files and folders for their owner alone."""

import fcntl
import hashlib
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISDIR

from wardround.records.reasons import Reason, WardroundError

_FOLDER_OF_OWNER, _FILE_OF_OWNER = 0o700, 0o600
_CHUNK = 1 << 20


def write_whole(path: Path, content: bytes, *, private: bool = False) -> None:
    """Writes bytes; a kill leaves the old file or the new one. `private`: for this user alone, see `whole_file`."""
    with whole_file(path, private=private) as unfinished:
        unfinished.write_bytes(content)


@contextmanager
def whole_file(path: Path, *, private: bool = False) -> Iterator[Path]:
    """Yields a path beside the target, of the same ending, to write to; what is there at the end takes its place.

    It is flushed to disk before it is renamed. Where the block raises, the target stays as it was. Root writes it for
    the folder's owner, see `give_to_owner`.

    Args:
        path: the target.
        private: for this user alone, whoever may read its folder: for whatever shows patients.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{uuid.uuid4().hex}.{path.name}")
    try:
        if private:
            private_file(unfinished)
        yield unfinished
        with _opened(unfinished) as descriptor:
            os.fsync(descriptor)
        give_to_owner(unfinished)
        unfinished.replace(path)
    except OSError as error:
        name_file(error, path, unfinished)
        raise
    finally:
        with suppress(OSError):  # a disk that has turned read-only
            unfinished.unlink(missing_ok=True)


def name_file(error: OSError, path: Path, unfinished: Path) -> None:
    """Puts a target in the place of the file beside it, and of none: a full disk is told without any name."""
    if error.filename is None or str(error.filename).startswith(str(unfinished)):
        error.filename = str(path)
        del error.filename2


def give_to_owner(path: Path) -> None:
    """Lets a file or folder that root made belong to whom the folder around it belongs.

    An admin who tries a site as root would else leave files that the user whom FLARE runs as can neither read nor
    replace. Nothing is followed that this user might have put in its place meanwhile: no link of either kind.
    """
    if os.geteuid() != 0:
        return
    owner = path.parent.stat()
    with suppress(PermissionError), _opened(path) as descriptor:  # root of a container, say, may not
        found = os.fstat(descriptor)
        if S_ISDIR(found.st_mode) or found.st_nlink == 1:
            os.fchown(descriptor, owner.st_uid, owner.st_gid)


def sync_folder(folder: Path) -> None:
    """Flushes what was renamed in a folder to disk, so that a power cut cannot undo it."""
    with _opened(folder.resolve()) as descriptor:
        os.fsync(descriptor)


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
    """Makes a folder, and those above it that are missing, for this user alone, or where that is root for the owner of
    the folder above. One that is there keeps its rights.
    """
    for missing in reversed([one for one in (folder, *folder.parents) if not one.exists()]):
        missing.mkdir(mode=_FOLDER_OF_OWNER, exist_ok=True)
        give_to_owner(missing)
    return folder


def private_file(file: Path) -> Path:
    """Makes an empty file for this user alone, to be added to; one that is there keeps its content and rights."""
    is_new = not file.exists()
    file.touch(mode=_FILE_OF_OWNER)
    if is_new:
        give_to_owner(file)
    return file


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Waits until no other process holds this lock, and holds it. The file is made, with its folder, and stays."""
    private_folder(file.parent)
    with private_file(file).open("ab") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def sha256_of(file: Path) -> str:
    """Of a file's bytes, in hexadecimal."""
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(_CHUNK):
            digest.update(block)
    return digest.hexdigest()


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
