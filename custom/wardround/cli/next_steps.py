"""What can follow a run, in one line."""

import shlex
from pathlib import Path

from wardround.cli.resume_hint import resume_hint
from wardround.cli.write_report import RECORD
from wardround.reporting.acceptance import check_criteria
from wardround.reporting.model import Summary


def next_line(out: Path, *, summary: Summary | None = None, baselines: bool = False) -> str | None:
    """Such as `next: wardround runs show results/brain_tumor/20261130-101500`; None where nothing is to be seen.

    Args:
        out: the run's folder.
        summary: of a run that came to its end.
        baselines: the run was to train baselines too, and so is what goes on with it.
    """
    steps = []
    complete = summary is not None and summary.ending.status == "complete"
    if not complete and (hint := resume_hint(out, baselines=baselines)):
        steps.append(hint)
    if (out / RECORD).is_file():
        steps.append(f"wardround runs show {shlex.quote(str(out))}")
    if complete and summary is not None and check_criteria(summary).met:
        steps.append(f"wardround release {shlex.quote(str(out))} --approver NAME --key FILE")
    return f"next: {'; '.join(steps)}" if steps else None
