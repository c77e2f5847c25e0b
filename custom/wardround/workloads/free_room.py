"""What this machine has free: disk where a folder is, or will be, and memory."""

import os
import shutil
from pathlib import Path

_GIB = 2**30
_MEMORY = Path("/proc/meminfo")
_LIMIT = Path("/sys/fs/cgroup")


def free_disk(folder: Path) -> int:
    """Bytes that this user may still write there; a folder that is not there yet is looked at through its parent."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def free_memory() -> float:
    """Bytes that a process could have now, the page cache counted as free; a container's limit bounds it."""
    return min(_of_machine(), _of_container())


def in_gib(size: float) -> str:
    """Such as `63.9 GiB`."""
    return f"{size / _GIB:.1f} GiB" if size >= 0.1 * _GIB else f"{size / 2**20:.1f} MiB"


def _of_machine() -> int:
    try:
        lines = dict(line.split(":", 1) for line in _MEMORY.read_text().splitlines() if ":" in line)
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):  # no Linux
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _of_container() -> float:
    try:
        limit, used = ((_LIMIT / name).read_text().strip() for name in ("memory.max", "memory.current"))
        cached = dict(line.split() for line in (_LIMIT / "memory.stat").read_text().splitlines())
        return float("inf") if limit == "max" else int(limit) - int(used) + int(cached["inactive_file"])
    except (OSError, KeyError, ValueError):  # no limit, or none that is told here
        return float("inf")
