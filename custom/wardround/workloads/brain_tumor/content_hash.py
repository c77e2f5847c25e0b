"""SHA-256 of files, remembered so that a site does not read all its images again at every start."""

import hashlib
import json
import logging
import time
from pathlib import Path

from wardround.records.files import write_whole

_log = logging.getLogger(__name__)
_SETTLED_NS = 2_000_000_000  # a file younger than this may still change within one tick of the file system's clock

Stamp = list[int]
Remembered = dict[str, tuple[Stamp, str]]


class ContentHashes:
    """Hashes by path, trusted while size, inode, mtime and ctime all stay as they were.

    Nobody can set a file's ctime back, so a file that was overwritten is read again even if a copy kept its size and
    mtime. A file changed in the last two seconds is not remembered at all.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._known = _load(file)
        self._changed = False

    def of(self, file: Path) -> str:
        """The file's SHA-256. Raises OSError where it cannot be read."""
        name = str(file.absolute())
        stamp = _stamp(file)
        known = self._known.get(name)
        if known is not None and known[0] == stamp:
            return known[1]
        with file.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        if _stamp(file) == stamp and time.time_ns() - max(stamp[2:]) > _SETTLED_NS:
            self._known[name] = (stamp, digest)
            self._changed = True
        return digest

    def knows(self, file: Path) -> bool:
        """Whether `of` would give an answer without reading the file."""
        known = self._known.get(str(file.absolute()))
        try:
            return known is not None and known[0] == _stamp(file)
        except OSError:
            return False

    def save(self) -> None:
        """Keeps what was learnt, beside what other processes kept meanwhile."""
        if not self._changed:
            return
        merged = _load(self._file) | self._known
        try:
            write_whole(self._file, json.dumps(merged).encode(), private=True)
            self._changed = False
        except OSError as error:  # only speed is lost
            _log.warning("content hashes not kept: %s", error)


def _load(file: Path) -> Remembered:
    try:
        return {name: (list(stamp), str(digest)) for name, (stamp, digest) in json.loads(file.read_text()).items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _stamp(file: Path) -> Stamp:
    status = file.stat()
    return [status.st_size, status.st_ino, status.st_mtime_ns, status.st_ctime_ns]
