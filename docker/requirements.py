"""Prints what pyproject.toml asks for, by extra: the images' layers of dependencies then change only when that does.

python requirements.py pyproject.toml flare tabular
"""

import re
import sys
import tomllib
from pathlib import Path


def requirements(project: dict[str, object], extras: list[str]) -> list[str]:
    """What the package and these extras need; an extra of the package itself is followed."""
    name, optional = project["name"], project["optional-dependencies"]
    assert isinstance(optional, dict)
    found = set(project["dependencies"])  # type: ignore[call-overload]
    left = list(extras)
    while left:
        for line in optional[left.pop()]:
            own = re.fullmatch(rf"{name}\[(.*)\]", line)
            if own:
                left.extend(own[1].split(","))
            else:
                found.add(line)
    return sorted(found)


if __name__ == "__main__":
    settings = tomllib.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    sys.stdout.write("\n".join(requirements(settings["project"], sys.argv[2:])) + "\n")
