"""That a run went on in a new job: from where, when, why, and with whom."""

import copy
from typing import Any

from pydantic import BaseModel, ConfigDict

from wardround.records.code import CodeFacts
from wardround.records.run_lines import JoinLine, ResumeLine, RunLine, StartLine


class Resumption(BaseModel):
    """One time that a run went on.

    Args:
        round: the first that was trained then, from 1; None where only scoring was left.
        because: how it had ended before.
        left_out: sites that it went on without.
        changed: settings that were changed, each in words.
        code: of the server's part from then on.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    time: str
    round: int | None
    because: str
    left_out: list[str]
    changed: dict[str, str]
    code: CodeFacts | None = None


def resumptions(start: StartLine, lines: list[RunLine]) -> list[Resumption]:
    """Those of a record, in order."""
    rounds = start.study.get("training", {}).get("rounds", 0)
    return [
        Resumption(
            time=line.time,
            round=line.round + 1 if line.round < rounds else None,
            because=line.because,
            left_out=line.left_out,
            changed={key: f"{before} became {now}" for key, (before, now) in line.changed.items()},
            code=line.code,
        )
        for line in lines
        if isinstance(line, ResumeLine)
    ]


def settled_settings(lines: list[RunLine]) -> dict[str, Any]:
    """The study's settings that a run ended with: those that it began with, with what was changed when it went on."""
    settings: dict[str, Any] = {}
    for line in lines:
        if isinstance(line, StartLine):
            settings = copy.deepcopy(line.study)
        elif isinstance(line, ResumeLine):
            for key, (_, now) in line.changed.items():
                *parents, last = key.split(".")
                section = settings
                for parent in parents:
                    section = section[parent]
                section[last] = now
    return settings


def joins(start: StartLine, lines: list[RunLine]) -> dict[str, JoinLine]:
    """Sites that were not there from the start, by when they joined; some do when a run goes on."""
    known = {manifest.site for manifest in start.sites}
    found: dict[str, JoinLine] = {}
    for line in lines:
        if isinstance(line, JoinLine):
            found[line.manifest.site] = line
        elif isinstance(line, ResumeLine):
            for manifest in line.sites:
                if manifest.site not in known:
                    found.setdefault(manifest.site, JoinLine(round=line.round, manifest=manifest))
    return found
