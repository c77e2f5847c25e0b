"""A look at a site's data as a study would use it, and when that was last done."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime

from wardround.learners.devices import usable_device
from wardround.records.files import private_folder, writable_folder, write_whole
from wardround.records.reasons import WardroundError
from wardround.records.study import Study
from wardround.site.config import SiteConfig
from wardround.site.open_site import open_site_data
from wardround.workloads.workload import SiteData

_RECORD = "inspection.json"


@dataclass(frozen=True)
class Inspection:
    """What a study would see of a site.

    Attributes:
        data: the opened cases, with what was left out and why.
        unusable: device or folders that cannot be used.
        missing: splits without cases that the site's role needs.
    """

    data: SiteData
    unusable: list[WardroundError]
    missing: list[str]

    @property
    def usable(self) -> bool:
        """Whether the site could take part in the study now."""
        return not (self.unusable or self.missing or self.data.doubts)

    @property
    def left_out(self) -> int:
        """How many cases, files or rows are left out."""
        return len(self.data.problems)


@dataclass(frozen=True)
class LastInspection:
    """When a study's data was last looked at here, and the outcome in counts."""

    time: str
    study: str
    usable: bool
    counts: dict[str, int]
    left_out: int


def inspect_site(study: Study, config: SiteConfig) -> Inspection:
    """Opens the data, which prepares images where they are not yet, tries device and folders, and notes the outcome.

    Raises:
        WardroundError: the data cannot be used at all.
    """
    unusable = unusable_parts(config)
    data = open_site_data(study, config)
    needed = ("train", "validation", "test") if config.role == "train" else ("test",)
    missing = [split for split in needed if not data.counts.get(f"{split}_cases", 0)]
    inspection = Inspection(data, unusable, missing)
    _note(study, config, inspection)
    return inspection


def unusable_parts(config: SiteConfig) -> list[WardroundError]:
    """Why the device or the folders that site.yaml names cannot be used here; empty where they can."""
    found = []
    for look in (
        lambda: usable_device(config.device),
        lambda: writable_folder(config.state_folder, "state_folder"),
    ):
        try:
            look()
        except WardroundError as error:
            found.append(error)
    return found


def last_inspections(config: SiteConfig) -> list[LastInspection]:
    """The last look at each study's data, by study; empty where there was none."""
    try:
        record = json.loads((config.state_folder / _RECORD).read_text(encoding="utf-8"))
        return [LastInspection(**record[study]) for study in sorted(record)]
    except (OSError, ValueError, TypeError):
        return []


def _note(study: Study, config: SiteConfig, inspection: Inspection) -> None:
    record = {one.study: one.__dict__ for one in last_inspections(config)}
    record[study.name] = LastInspection(
        time=datetime.now(UTC).isoformat(timespec="seconds"),
        study=study.name,
        usable=inspection.usable,
        counts=dict(inspection.data.counts),
        left_out=inspection.left_out,
    ).__dict__
    try:
        private_folder(config.state_folder)
        write_whole(config.state_folder / _RECORD, json.dumps(record, indent=2).encode())
    except OSError:  # a state folder that cannot be written is told as such already
        return
