"""SHA256SUMS of a release: every file of it but the list and its signature, as `sha256sum --check` reads it."""

import re
from pathlib import Path

from wardround.records.files import sha256_of

LIST = "SHA256SUMS"
SIGNATURE = "SHA256SUMS.sig"
_LINE = re.compile(r"^([0-9a-f]{64})  (\S[^\n]*)$")


def checksums(folder: Path) -> str:
    """The list's text, in the order of names."""
    return "".join(f"{sha256_of(folder / name)}  {name}\n" for name in _names(folder))


def differences(folder: Path) -> list[str]:
    """What in the folder is not as its list says, one line each; empty where all is."""
    file = folder / LIST
    if not file.is_file():
        return [f"{LIST}: missing"]
    listed: dict[str, str] = {}
    for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        match = _LINE.match(line)
        if match is None:
            return [f"{LIST}, line {number}: not a checksum and a name"]
        listed[match.group(2)] = match.group(1)
    there = _names(folder)
    found = [f"{name}: missing" for name in listed if name not in there]
    found += [f"{name}: not in {LIST}" for name in there if name not in listed]
    links = [name for name in there if (folder / name).is_symlink()]
    found += [f"{name}: a link; a release holds its files itself" for name in links]
    odd = [name for name in there if name not in links and not (folder / name).is_file()]  # reading a pipe never ends
    found += [f"{name}: no plain file" for name in odd]
    found += [
        f"{name}: changed since the release"
        for name in there
        if name in listed and name not in (*links, *odd) and sha256_of(folder / name) != listed[name]
    ]
    return found


def _names(folder: Path) -> list[str]:
    """Of everything below the folder but folders with something in them, relative to it."""
    paths = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir() or not any(path.iterdir()))
    return sorted({path.relative_to(folder).as_posix() for path in paths} - {LIST, SIGNATURE})
