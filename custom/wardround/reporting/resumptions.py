"""That a run went on in a new job: when, from where, and why."""

from wardround.records.run_lines import ResumeLine
from wardround.reporting.model import Resumption


def resumption(line: ResumeLine, rounds: int) -> Resumption:
    """One line of the record as a fact of the report."""
    return Resumption(
        time=line.time,
        round=line.round + 1 if line.round < rounds else None,
        because=line.because,
        left_out=line.left_out,
        changed={key: f"{before} became {now}" for key, (before, now) in line.changed.items()},
    )


def in_one_line(fact: Resumption) -> str:
    """`Resumed at round 4, 2026-11-30 11:20 UTC, because it was stopped; without hospital-c.`"""
    where = "for the scoring" if fact.round is None else f"at round {fact.round}"
    text = f"Resumed {where}, {fact.time[:16].replace('T', ' ')} UTC"
    text += f", because {fact.because}" if fact.because else ""
    text += f"; without {', '.join(fact.left_out)}" if fact.left_out else ""
    return text + "".join(f"; {key}: {change}" for key, change in fact.changed.items())
