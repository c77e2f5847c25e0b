"""That a run went on in a new job, in words."""

from wardround.records.resumption import Resumption


def in_one_line(fact: Resumption) -> str:
    """`Resumed at round 4, 2026-11-30 11:20 UTC, because it was stopped; without hospital-c.`"""
    where = "for the scoring" if fact.round is None else f"at round {fact.round}"
    text = f"Resumed {where}, {fact.time[:16].replace('T', ' ')} UTC"
    text += f", because {fact.because}" if fact.because else ""
    text += f"; without {', '.join(fact.left_out)}" if fact.left_out else ""
    return text + "".join(f"; {key}: {change}" for key, change in fact.changed.items())
