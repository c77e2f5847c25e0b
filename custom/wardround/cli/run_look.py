"""What a run's folder says, read once for the commands that show runs."""

import json
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from wardround.cli.write_manifest import model_files
from wardround.cli.write_report import RECORD
from wardround.records.acceptance_outcome import AcceptanceOutcome
from wardround.records.files import sha256_of
from wardround.records.launch import read_launch
from wardround.records.manifest import FILE_NAME, RunManifest, read_manifest
from wardround.records.run_lines import StartLine, read_lines
from wardround.reporting.acceptance import check_criteria
from wardround.reporting.model import Summary
from wardround.reporting.run_manifest import make_manifest
from wardround.reporting.summary import summarise
from wardround.reporting.words import words_of


@dataclass(frozen=True)
class RunLook:
    """One run; `summary` and `outcome` are None where its sites never agreed on it.

    Args:
        remark: what somebody should know who sees it, such as that it still goes on.
        status: as in the manifest, or `running`.
    """

    folder: Path
    manifest: RunManifest
    summary: Summary | None
    outcome: AcceptanceOutcome | None
    remark: str = ""
    status: str = ""

    def in_words(self, reason: str) -> str:
        """A coded reason of this run for people."""
        workload = self.manifest.settings.get("workload") or {}
        return words_of(str(workload.get("kind", ""))).reason_in_words(reason)


def look_at(folder: Path) -> RunLook:
    """Reads a run's manifest and record; without a manifest of this very record it gets one in memory.

    Raises:
        WardroundError: what is there cannot be read.
    """
    record = folder / RECORD
    lines = read_lines(record) if record.is_file() else []
    if not any(isinstance(line, StartLine) for line in lines):
        manifest = read_manifest(folder)
        return RunLook(folder, manifest, None, None, status=manifest.status)
    found = read_manifest(folder) if (folder / FILE_NAME).is_file() else None
    known = found.record_sha256 if found else None
    stale = known is not None and known != sha256_of(record)
    manifest = make_manifest(lines, model_files(folder)) if found is None or stale else found
    summary = summarise(lines)
    remark = _still_running(folder) if manifest.status == "stopped" else ""
    status = "running" if remark else manifest.status
    if stale and not remark:
        remark = (
            f"{FILE_NAME} is of another state of {RECORD}, which is what is shown: the run was killed after it had "
            "gone on, or the file was changed or copied half"
        )
    return RunLook(folder, manifest, summary, check_criteria(summary), remark, status)


def _still_running(folder: Path) -> str:
    """In words, where FLARE works on this run: for its command, or since that was killed without it."""
    if find_spec("psutil") is None:  # then no run was started here
        return ""
    from wardround.flare.marked_processes import MarkedProcesses, lives

    launch = read_launch(folder)
    if launch is None or launch.original(folder) is not None:
        return ""
    if lives(launch.process, launch.process_started):
        return f"it goes on, in process {launch.process}"
    if launch.mark and MarkedProcesses(mark=launch.mark).alive():
        return f"it goes on without its command, which was killed: `wardround resume {folder}` takes it up"
    return ""


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
