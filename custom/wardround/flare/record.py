"""RunRecord: writes run.jsonl at the server, and remembers what makes a run partial."""

import logging
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from wardround.records.code import code_facts
from wardround.records.files import write_whole
from wardround.records.run_lines import (
    DifferenceLine,
    EndLine,
    JoinLine,
    ResumeLine,
    RoundLine,
    RunLine,
    ScoreLine,
    StartLine,
)
from wardround.records.study import Study
from wardround.records.task_answers import TaskAnswers
from wardround.records.update import SiteManifest
from wardround.records.versions import package_versions

FILE_NAME = "run.jsonl"
LINE_COUNT = "line_count"
RECENT_LINES = "recent_lines"
ANSWERS = "answers"
ANSWERS_FILE = "answers.json"  # in FLARE's run folder, for a watcher on the same machine
_RECENT = 8  # a watcher that polls every second or two misses none; the rest comes with the result
_log = logging.getLogger(__name__)


class RunRecord:
    """The record of one run at the server: `metrics/run.jsonl` in FLARE's run folder.

    A line that cannot be written, such as on a full disk, is kept in memory and written with the next one.
    """

    def __init__(self, run_folder: Path) -> None:
        self.file = run_folder / "metrics" / FILE_NAME
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self._started = time.monotonic()
        self._partial: list[str] = []
        self._whole = b""
        self._written = 0  # bytes of it that are in the file
        self._count = 0
        self._recent: list[str] = []
        self._progress: dict[str, object] = {"phase": "prepare"}
        self._answers: TaskAnswers | None = None
        self._answers_file = run_folder / ANSWERS_FILE

    @property
    def seconds(self) -> float:
        """Wall time so far."""
        return time.monotonic() - self._started

    @property
    def partial(self) -> list[str]:
        """What makes the run partial so far."""
        return list(self._partial)

    @property
    def unwritten(self) -> bool:
        """Whether lines are in memory alone."""
        return self._written < len(self._whole)

    def stats(self) -> dict[str, object]:
        """For FLARE's `show_stats`: the phase, who has answered the newest order, and the newest lines of the record
        with the number written so far."""
        told = {ANSWERS: self._answers.model_dump(mode="json")} if self._answers else {}
        return {**self._progress, **told, LINE_COUNT: self._count, RECENT_LINES: list(self._recent)}

    def answers(self, answers: TaskAnswers) -> None:
        """Says who has answered the newest order so far, which is no part of the record."""
        self._answers = answers
        with suppress(OSError):  # a full disk keeps no run from going on
            write_whole(self._answers_file, answers.model_dump_json().encode())

    def content(self, line: RunLine | None = None) -> bytes:
        """The record so far, as it is in the file, with one more line."""
        return self._whole + (_bytes(line) if line is not None else b"")

    def start(
        self, run: str, environment: str, study: Study, manifests: dict[str, SiteManifest], missing: dict[str, str]
    ) -> None:
        """Writes what was agreed in `prepare`."""
        self._incomplete_for(missing)
        line = StartLine(
            run=run,
            time=_now(),
            environment=environment,
            study=study.model_dump(mode="json"),
            study_digest=study.digest(),
            sites=[manifest for _, manifest in sorted(manifests.items())],
            missing=sorted(missing),
            versions=package_versions(),
            code=code_facts(),
        )
        self._write(line, phase="rounds")

    def restore(self, content: bytes, lines: int, partial: Iterable[str], seconds: float) -> None:
        """Begins with an earlier job's record of the same run."""
        self._whole, self._count = content, lines
        self._partial = list(partial)
        self._started = time.monotonic() - seconds

    def resume(self, line: ResumeLine, missing: dict[str, str]) -> None:
        """Writes that the run goes on, and with whom."""
        self._incomplete_for(missing)
        self._write(line, phase="rounds")

    def join(self, manifest: SiteManifest, round_index: int) -> None:
        """Writes that a site that was missing takes part from a round on."""
        self.incomplete(f"{manifest.site}: joined in round {round_index + 1}")
        self._write(JoinLine(round=round_index, manifest=manifest), phase="rounds")

    def round(self, line: RoundLine) -> None:
        """Writes one round."""
        self._write(line, phase="rounds", round=line.round + 1, rounds=line.rounds, contributed=line.contributed)

    def score(self, line: ScoreLine) -> None:
        """Writes one arm's scores at one site."""
        self._write(line, phase="scoring")

    def difference(self, line: DifferenceLine) -> None:
        """Writes how one arm compares with another at one site."""
        self._write(line, phase="scoring")

    def incomplete(self, reason: str) -> None:
        """Marks the run partial, once a reason."""
        if reason not in self._partial:
            self._partial.append(reason)

    def end(self, *, best: tuple[int, str], last: tuple[int, str]) -> None:
        """Writes how it ended: complete, or partial with what is missing.

        Args:
            best, last: each model's round, and the SHA-256 of its weights.
        """
        facts = {
            "best_round": best[0],
            "best_weights_sha256": best[1],
            "last_round": last[0],
            "weights_sha256": last[1],
        }
        self._end("partial" if self._partial else "complete", self._partial, facts)

    def fail(self, reason: str) -> None:
        """Writes that it ended early, and why, in one line."""
        self._end("failed", [reason, *self._partial], {})

    def _incomplete_for(self, missing: dict[str, str]) -> None:
        for site, reason in sorted(missing.items()):
            self.incomplete(f"{site}: {reason}")

    def _end(self, status: str, reasons: list[str], facts: Mapping[str, object]) -> None:
        line = EndLine.model_validate({"status": status, "reasons": reasons, "seconds": self.seconds, **facts})
        self._write(line, phase=status)

    def _write(self, line: RunLine, **progress: object) -> None:
        self._whole += _bytes(line)
        self._count += 1
        self._recent = [*self._recent, line.model_dump_json()][-_RECENT:]
        self._progress = progress
        try:
            self._flush()
        except OSError as error:
            _log.error("%s: %s; the line is kept in memory", self.file.name, error.strerror)

    def _flush(self) -> None:
        """Adds what the file lacks. What an attempt wrote in part is cut off first."""
        with self.file.open("ab") as stream:
            stream.truncate(self._written)
            stream.write(self._whole[self._written :])
            stream.flush()
        self._written = len(self._whole)


def _bytes(line: RunLine) -> bytes:
    return (line.model_dump_json() + "\n").encode()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
