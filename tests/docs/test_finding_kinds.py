"""docs/data.md tells of every kind of finding that an inspection of images can give, and of no other."""

import ast
import re
from pathlib import Path

from wardround.records.reasons import Reason

ROOT = Path(__file__).parents[2]
CODE = ROOT / "custom" / "wardround"
PAGE = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")
FIRST = ("workloads.brain_tumor.open_site", "workloads.brain_tumor.declaration", "site.inspection", "records.files")
INSPECTED = ("workloads.brain_tumor.", "workloads.opt_out", "records.files")


def _told_in_docs() -> set[str]:
    part = PAGE[PAGE.index("## What is refused, and why") : PAGE.index("## What an inspection tells")]
    rows = [line.split("|")[1] for line in part.splitlines() if line.startswith("| `")]
    return {code for row in rows for code in re.findall(r"`([a-z_]+)`", row)}


def _told_in_code() -> set[str]:
    """Reasons named in the modules that opening a site's images runs through."""
    waiting, seen, found = list(FIRST), set(), set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        for node in ast.walk(ast.parse((CODE / f"{name.replace('.', '/')}.py").read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("wardround."):
                module = node.module.removeprefix("wardround.")
                waiting += [module] if module.startswith(INSPECTED) else []
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Reason":
                found.add(Reason[node.attr].value)
    assert len(seen) > 20
    return found


def test_each_kind_in_the_table_is_one_that_the_code_gives_and_each_of_these_is_there() -> None:
    assert _told_in_docs() == _told_in_code()
