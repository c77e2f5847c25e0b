"""Files that are either whole or absent."""

import os
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Writes beside the target, flushes to disk, then renames: a kill leaves the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
