"""FLARE's part of `wardround run`, played by a hand-made record."""

from collections.abc import Callable
from pathlib import Path

import pytest

from wardround.flare import environments
from wardround.records.run_lines import RunLine, append_line
from wardround.records.study import Study
from wardround.site import differences


def play(
    monkeypatch: pytest.MonkeyPatch,
    lines: list[RunLine] | Callable[[Study], list[RunLine]],
    then: BaseException | None = None,
) -> list[dict]:
    """Replaces the federation by its record, and `then` how it ends; returns the calls as they come."""
    calls: list[dict] = []

    def run_study(folder: Path, study: Study, *, out: Path, on_line: Callable, **others: object) -> Path:
        calls.append({"study": study, "out": out, **others})
        (out / "flare.log").write_text("log")
        for line in lines(study) if callable(lines) else lines:
            append_line(out / "run.jsonl", line)
            on_line(line)
        if then is not None:
            raise then
        return out / "run.jsonl"

    monkeypatch.setattr(environments, "run_study", run_study)
    monkeypatch.setattr(differences, "differences", lambda *_, **__: iter(()))
    return calls
