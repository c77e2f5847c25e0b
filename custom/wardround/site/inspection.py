"""A look at a site's data as a study would use it: the one that the command, preflight and `prepare` all take."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from wardround.learners.devices import usable_device
from wardround.records.faults import fault
from wardround.records.files import writable_folder
from wardround.records.inspection import Finding, Findings, Inspection, Severity
from wardround.records.reasons import Reason, WardroundError
from wardround.records.site_status import LastInspection
from wardround.records.study import Study
from wardround.site.config import SiteConfig
from wardround.site.inspection_record import note_inspection
from wardround.site.odd_rules import odd_rules
from wardround.site.open_site import read_data
from wardround.workloads.progress import Progress, unseen
from wardround.workloads.registry import make_workload
from wardround.workloads.site_data import SiteData
from wardround.workloads.split import SPLITS

_WITHOUT = {
    "train": "nothing can be trained on",
    "validation": "its figures have no part in choosing the best round, and no alert threshold is chosen here",
    "test": "no figure says what the study gives this hospital",
}


@dataclass(frozen=True)
class Inspected:
    """What was told, and the opened cases; None where they cannot be opened."""

    record: Inspection
    data: SiteData | None


def inspect_site(study: Study, config: SiteConfig, *, progress: Progress = unseen, threads: int = 1) -> Inspected:
    """Opens the data, which prepares images where they are not yet, tries device and folders, and notes the outcome.

    Where the data cannot be opened, paths of the section that lead nowhere are told with the cause, and first: it may
    be one of several keys that keep the data from being looked for.

    Args:
        study: whose data to look at.
        config: the site's.
        progress: is told how far reading has come.
        threads: how many images may be read at once.

    Raises:
        WardroundError: the study's settings are not valid, or site.yaml has no section for it. What is wrong with the
            section or the data is a finding.
    """
    workload = make_workload(study)
    config.section(study.workload["kind"], study.name)
    data, told = None, Findings()
    try:
        data = read_data(workload, study, config, progress=progress, threads=threads)
    except WardroundError as error:
        told = Findings.of_errors([error], Severity.ERROR)
        told = Findings([*_dead_ends(study, config, told), *told])
    return Inspected(_noted(study, config, data, told), data)


def inspect_headers(study: Study, config: SiteConfig, *, progress: Progress = unseen) -> Inspection:
    """What headers alone tell. It is no inspection that a study could rely on, so nothing is noted of it.

    Raises:
        WardroundError: as `inspect_site`, or the study's data have no headers.
    """
    workload, kind = make_workload(study), study.workload["kind"]
    section, where = config.section(kind, study.name), config.section_name(kind, study.name)
    told = workload.glance(section, cache=config.cache_folder, where=where, progress=progress)
    findings = [*_unusable_parts(config), *told.findings, *_empty_splits(config, told.counts)]
    findings += odd_rules(study, config, told.counts)
    return _record(study, config, told.counts, findings, headers_only=True)


def inspect_data(study: Study, config: SiteConfig, data: SiteData) -> Inspection:
    """The same of data that is open already.

    Raises:
        WardroundError: never for what is found; see `Findings.refuse`.
    """
    return _noted(study, config, data, Findings())


def _noted(study: Study, config: SiteConfig, data: SiteData | None, told: Findings) -> Inspection:
    findings = [*_unusable_parts(config), *told, *odd_rules(study, config, data.counts if data is not None else {})]
    if data is not None:
        findings += [*data.findings, *_empty_splits(config, data.counts)]
    inspection = _record(study, config, data.counts if data is not None else {}, findings)
    outcome = LastInspection(
        time=inspection.time,
        study=study.name,
        usable=inspection.usable,
        counts=inspection.counts,
        left_out=inspection.left_out,
    )
    with suppress(OSError):  # a state folder that cannot be written is among the findings already
        note_inspection(config.state_folder, outcome)
    return inspection


def _record(
    study: Study,
    config: SiteConfig,
    counts: Mapping[str, int],
    findings: Sequence[Finding],
    *,
    headers_only: bool = False,
) -> Inspection:
    return Inspection(
        site=config.name,
        role=config.role,
        study=study.name,
        time=datetime.now(UTC).isoformat(timespec="seconds"),
        counts=dict(counts),
        findings=tuple(findings),
        headers_only=headers_only,
    )


def _empty_splits(config: SiteConfig, counts: dict[str, int]) -> list[Finding]:
    """A site that trains needs training cases, one that is only scored test cases; without others it has no figures."""
    needed, asked = ("train", SPLITS) if config.role == "train" else ("test", ("test",))
    return [
        Finding.of(
            Severity.ERROR if split == needed else Severity.WARNING,
            Reason.TOO_FEW_CASES,
            fault(
                f"no {split} cases",
                expected=f"one at least, as the site's role is {config.role}",
                advice=f"without them {_WITHOUT[split]}; see `split`, and what is left out",
                count=0,
            ),
        )
        for split in asked
        if not counts.get(f"{split}_cases", 0)
    ]


def _dead_ends(study: Study, config: SiteConfig, told: Findings) -> list[Finding]:
    """Paths of the study's section at which nothing is, but for those that somebody has told of already."""
    known = {one.where.file.removeprefix("folder ") for one in told}
    return [
        Finding.of(
            Severity.ERROR,
            Reason.DATA_MISSING,
            fault("nothing is there", file=path, key=key, advice="put it there, or name another place"),
        )
        for key, path in config.paths(study.workload["kind"], study.name)
        if str(path) not in known and not _is_there(path)
    ]


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a folder on the way may not be looked into, which whoever reads the file will say
        return True


def _unusable_parts(config: SiteConfig) -> Findings:
    """Why the device or the folders that site.yaml names cannot be used here."""
    errors = []
    for look in (
        lambda: usable_device(config.device),
        lambda: writable_folder(config.state_folder, "state_folder"),
    ):
        try:
            look()
        except WardroundError as error:
            errors.append(error)
    return Findings.of_errors(errors, Severity.ERROR)
