"""What can follow a run, in one line of commands."""

import shlex
from pathlib import Path

from wardround.cli.resume_hint import resume_hint
from wardround.cli.write_report import RECORD
from wardround.records.acceptance import Acceptance
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
    if complete and summary is not None and _has_criteria(summary):
        steps.append(f"wardround release make {shlex.quote(str(out))} --approver NAME --key FILE")
    return f"next: {'; '.join(steps)}" if steps else None


def _has_criteria(summary: Summary) -> bool:
    return bool(Acceptance.model_validate(summary.study.settings.get("acceptance") or {}).names)
