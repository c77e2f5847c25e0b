"""What a run's folder says, read once for the commands that show runs."""

import json
from dataclasses import dataclass
from pathlib import Path

from wardround.cli.write_manifest import model_files
from wardround.cli.write_report import RECORD
from wardround.records.acceptance_outcome import AcceptanceOutcome
from wardround.records.manifest import FILE_NAME, RunManifest, read_manifest
from wardround.records.run_lines import StartLine, read_lines
from wardround.reporting.acceptance import check_criteria
from wardround.reporting.model import Summary
from wardround.reporting.run_manifest import make_manifest
from wardround.reporting.summary import summarise
from wardround.reporting.words import words_of


@dataclass(frozen=True)
class RunLook:
    """One run; `summary` and `outcome` are None where its sites never agreed on it."""

    folder: Path
    manifest: RunManifest
    summary: Summary | None
    outcome: AcceptanceOutcome | None

    def in_words(self, reason: str) -> str:
        """A coded reason of this run for people."""
        workload = self.manifest.settings.get("workload") or {}
        return words_of(str(workload.get("kind", ""))).reason_in_words(reason)


def look_at(folder: Path) -> RunLook:
    """Reads a run's manifest and record; a run without a manifest gets one from its record, in memory.

    Raises:
        WardroundError: what is there cannot be read.
    """
    record = folder / RECORD
    lines = read_lines(record) if record.is_file() else []
    if not any(isinstance(line, StartLine) for line in lines):
        return RunLook(folder, read_manifest(folder), None, None)
    manifest = read_manifest(folder) if (folder / FILE_NAME).is_file() else make_manifest(lines, model_files(folder))
    summary = summarise(lines)
    return RunLook(folder, manifest, summary, check_criteria(summary))


def releases_by_run(releases: Path) -> dict[str, list[str]]:
    """The name of a run to the releases made from it; a study's current one is marked."""
    found: dict[str, list[str]] = {}
    for file in sorted(releases.glob("*/*/release.json")):
        if file.parent.name.startswith("."):  # one that is being written
            continue
        try:
            run = str(json.loads(file.read_text(encoding="utf-8"))["run"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
        name, current = file.parent.name, _current(file.parents[1])
        mark = " (current)" if name == current else " (`current` cannot be read)" if current is None else ""
        found.setdefault(run, []).append(f"{name}{mark}")
    return found


def _current(study: Path) -> str | None:
    """A study's current release; None where its history cannot be read."""
    try:
        return str(json.loads((study / "current").read_text(encoding="utf-8"))["current"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
