"""A look at a site's data as a study would use it, and when that was last done."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from wardround.learners.devices import usable_device
from wardround.records.files import writable_folder
from wardround.records.reasons import WardroundError
from wardround.records.site_status import LastInspection
from wardround.records.study import Study
from wardround.site.config import SiteConfig
from wardround.site.inspection_record import note_inspection
from wardround.site.open_site import open_site_data
from wardround.workloads.workload import SiteData


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
    outcome = LastInspection(
        time=datetime.now(UTC).isoformat(timespec="seconds"),
        study=study.name,
        usable=inspection.usable,
        counts=dict(data.counts),
        left_out=inspection.left_out,
    )
    with suppress(OSError):  # a state folder that cannot be written is among the unusable parts already
        note_inspection(config.state_folder, outcome)
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
