"""The commands that README.md and docs/ show: every line of a fenced block that is marked as bash."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
NOT_RUN = "# not run by the tests: "  # a block's first line, for the reader; then the kind, as in docs/commands.yaml
_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>\S*)[^\n]*\n(?P<text>.*?)^(?P=indent)```\s*$", re.MULTILINE | re.DOTALL
)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_PROGRAMS = re.compile(
    r"^ *(\$ )?(wardround|nvflare|make|docker|podman|pip|python3?|openssl|cosign|bash|sh|export|tar|rsync|scp|"
    r"\./\S+\.sh|\S+/(start|stop_fl|fl_admin|sub_start|start_docker)\.sh)( |$)"
)


@dataclass(frozen=True)
class Block:
    """One block of commands."""

    page: str
    line: int
    heading: str
    text: str

    @property
    def kind(self) -> str | None:
        """Why it is not run, as its first line tells the reader; None where it is run."""
        first = self.text.splitlines()[0]
        return first.removeprefix(NOT_RUN).strip() if first.startswith(NOT_RUN) else None

    @property
    def commands(self) -> list[str]:
        """Its commands without comments; lines that end in a backslash are joined."""
        lines = (_without_comment(line) for line in self.text.replace("\\\n", " ").splitlines())
        return [line for line in lines if line]

    @property
    def is_make(self) -> bool:
        """Whether it holds make's targets alone, which .ci/run makes itself."""
        return all(command.startswith("make ") for command in self.commands)


def rules() -> dict[str, Any]:
    """docs/commands.yaml."""
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "docs" / "commands.yaml").read_text(encoding="utf-8"))
    return loaded


def page_names() -> list[str]:
    """README.md and every page of docs/, as paths from the project's folder."""
    return ["README.md", *sorted(str(file.relative_to(ROOT)) for file in (ROOT / "docs").rglob("*.md"))]


def blocks(page: str) -> list[Block]:
    """The page's blocks of commands, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [
        Block(
            page,
            line=text.count("\n", 0, match.start()) + 1,
            heading=_HEADING.findall(_FENCE.sub("", text[: match.start()]))[-1],
            text=_outdented(match["text"], len(match["indent"])),
        )
        for match in _FENCE.finditer(text)
        if match["language"] == "bash"
    ]


def blocks_under(page: str, heading: str) -> list[str]:
    """The texts of the blocks that stand under one heading of the page, and under no further one."""
    return [block.text for block in blocks(page) if block.heading == heading]


def stray_commands(page: str) -> list[str]:
    """Lines that look like commands, in indented text or in blocks of another language, where nothing runs them."""
    text = (ROOT / page).read_text(encoding="utf-8")
    without_bash = _FENCE.sub(lambda match: "" if match["language"] == "bash" else match[0], text)
    fenced = [line for match in _FENCE.finditer(without_bash) for line in match["text"].splitlines()]
    indented = [line for line in _FENCE.sub("", without_bash).splitlines() if line.startswith("    ")]
    return [line for line in [*fenced, *indented] if _PROGRAMS.match(line)]


def _outdented(text: str, indent: int) -> str:
    return "\n".join(line[indent:] for line in text.splitlines())


def _without_comment(line: str) -> str:
    stripped = line.strip()
    if stripped.startswith("#"):
        return ""
    head, separator, _ = line.partition("  # ") if "  # " in line else line.partition(" # ")
    try:
        shlex.split(head)
    except ValueError:  # the mark stands within quotes
        return stripped
    return head.strip() if separator else stripped
