"""Where and how a study runs, and what is refused before anything starts."""

from dataclasses import dataclass
from pathlib import Path

from wardround.cli.sites import site_files
from wardround.records import launch, manifest
from wardround.records.reasons import Reason, WardroundError
from wardround.records.run_lines import Environment
from wardround.records.study import Study

LOG = "flare.log"
_OF_NO_RUN = {
    LOG,
    launch.FILE_NAME,
    manifest.FILE_NAME,
}  # all that a run leaves that never began, so there is nothing to lose


@dataclass(frozen=True)
class RunOptions:
    """Where and how a study runs.

    Args:
        study_folder: holds the job.yaml.
        environment: FLARE's simulator, POC mode, or a production server.
        sites: folder of the site.yaml files; unused in production, where each hospital has its own.
        out: an empty or new folder for everything that the run leaves.
        baselines: also train each hospital alone and on pooled data; needs all data on this machine.
        kit: the admin's startup kit, for production.
        site_files: the site.yaml files to use, in place of those in `sites`.
    """

    study_folder: Path
    environment: Environment
    sites: Path
    out: Path
    baselines: bool = False
    kit: Path | None = None
    site_files: tuple[Path, ...] = ()


def check_run(study: Study, options: RunOptions) -> None:
    """Refuses what would be refused before FLARE starts, and leaves no trace; for whoever plans several runs.

    Raises:
        WardroundError: something does not fit.
    """
    from wardround.flare.environments import check_study

    check_baselines(study, options)
    check_study(
        options.study_folder, study, environment=options.environment, sites=used_sites(options), kit=options.kit
    )
    _refuse_to_overwrite(options.out)


def check_baselines(study: Study, options: RunOptions) -> None:
    """Refuses baselines where nobody has all data, or where each hospital trains alone anyway.

    Raises:
        WardroundError: one of both.
    """
    if options.baselines and options.environment == "prod":
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            "--baselines: pooled and own-data models need all data on one machine, which production does not have; "
            "leave it out",
        )
    if options.baselines and study.evaluation.compare_alone:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            "--baselines: evaluation.compare_alone trains each hospital alone already; leave one of the two out",
        )


def used_sites(options: RunOptions) -> list[Path]:
    """The site.yaml files; none in production."""
    if options.environment == "prod":
        return []
    return list(options.site_files) or site_files(options.sites)


def claim(out: Path) -> None:
    """Makes the folder, and clears it of what a run left that never began.

    Raises:
        WardroundError: it holds a run or something else.
    """
    _refuse_to_overwrite(out)
    for name in _OF_NO_RUN:
        (out / name).unlink(missing_ok=True)
    out.mkdir(parents=True, exist_ok=True)


def _refuse_to_overwrite(out: Path) -> None:
    held = {file.name for file in out.iterdir()} if out.exists() else set()
    if held - _OF_NO_RUN:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID, f"--out {out}: is not empty, and runs never overwrite; name a new folder"
        )
