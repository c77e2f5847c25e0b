"""`wardround site status`: the admin's view of its own site, read from its own folders alone."""

from pathlib import Path

from wardround.flare.certificates import check_certificate
from wardround.flare.installation import read_installation
from wardround.flare.kit import read_kit
from wardround.flare.kit_log import connection, is_of_a_run
from wardround.flare.preflight import host_config
from wardround.flare.standing_process import standing_process
from wardround.records.reasons import Reason, WardroundError
from wardround.records.site_status import SiteStatus
from wardround.site.answers import read_runs
from wardround.site.consent_file import consents
from wardround.site.device_hours import DeviceHours
from wardround.site.inspection_record import last_inspections
from wardround.site.shared_look import look_file, shared_looks
from wardround.site.training_times import situation


def site_status(kit_folder: Path) -> SiteStatus:
    """Connection, certificate, jobs with the site's own metrics by round, and the last inspections.

    Raises:
        WardroundError: the folder is no site's kit, or nothing is installed in it.
    """
    kit = read_kit(kit_folder)
    if kit.role != "site":
        raise WardroundError(Reason.ENVIRONMENT_INVALID, f"{kit_folder}: the kit of a {kit.role}; expected a site's")
    certificate = check_certificate(kit)
    config = host_config(kit, read_installation(kit.folder))
    return SiteStatus(
        site=kit.name,
        connection=_connection(kit.folder),
        certificate=certificate.text,
        certificate_fine=certificate.status == "ok",
        runs=read_runs(config.state_folder),
        inspections=last_inspections(config.state_folder),
        consents=consents(config.state_folder),
        shared=[(look, look_file(config.state_folder, look.study)) for look in shared_looks(config.state_folder)],
        training=situation(config.training_windows, DeviceHours(config.state_folder)),
    )


def _connection(kit: Path) -> str:
    """What the log said last, and whether its process is there: one that was killed leaves no word."""
    told = connection(kit)
    if not is_of_a_run(told) or standing_process(kit) is not None:
        return told
    return f"no process of this kit runs here, unless in a container; the last word of its log: {told}"
