"""`wardround site status`: the admin's view of its own site, read from its own folders alone."""

from pathlib import Path

from wardround.flare.certificates import check_certificate
from wardround.flare.installation import read_installation
from wardround.flare.kit import read_kit
from wardround.flare.kit_log import connection
from wardround.flare.preflight import host_config
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
        connection=connection(kit.folder),
        certificate=certificate.text,
        certificate_fine=certificate.status == "ok",
        runs=read_runs(config.state_folder),
        inspections=last_inspections(config.state_folder),
        consents=consents(config.state_folder),
        shared=[(look, look_file(config.state_folder, look.study)) for look in shared_looks(config.state_folder)],
        training=situation(config.training_windows, DeviceHours(config.state_folder)),
    )
