"""One whole run: the federation, the baselines, the differences, the report. `wardround run` and job.py share it."""

import contextlib
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from wardround.cli.next_steps import next_line
from wardround.cli.progress import RunProgress
from wardround.cli.run_options import LOG, RunOptions, check_baselines, claim, used_sites
from wardround.cli.write_manifest import write_manifest_anyhow, write_run_manifest
from wardround.cli.write_report import RECORD, Report, write_report
from wardround.records.reasons import Reason, WardroundError
from wardround.records.run_lines import DifferenceLine, RunLine, StartLine, append_line, read_lines
from wardround.records.study import Study

if TYPE_CHECKING:
    from wardround.flare.continuation import Continuation
    from wardround.site.config import SiteConfig


class FederationFailedError(WardroundError):
    """The run began and did not come to its end; what there is lies in the output folder and can be told."""


def results_folder(study: Study) -> Path:
    """`results/<study>/<time>`, which does not exist yet."""
    return Path("results", study.name, datetime.now().strftime("%Y%m%d-%H%M%S"))


def run_whole_study(
    study: Study, options: RunOptions, progress: RunProgress, continuation: "Continuation | None" = None
) -> Report:
    """Runs everything into `options.out` and returns the report; with a continuation, what is left of a run.

    Raises:
        FederationFailedError: FLARE started and the run failed.
        WardroundError: something does not fit, before anything was started.
    """
    check_baselines(study, options)
    files = used_sites(options)
    configs = _configs(files)
    if continuation is None:
        claim(options.out)
    log = options.out / LOG
    try:
        report = _run_to_the_report(study, options, files, configs, progress, continuation)
    except BaseException as error:
        if log.is_file():  # else nothing was started
            write_manifest_anyhow(options.out, study, options.environment, _why(error))
        else:
            with contextlib.suppress(OSError):  # what it holds by now stays
                options.out.rmdir()
        raise
    write_run_manifest(options.out)
    return report


def _run_to_the_report(
    study: Study,
    options: RunOptions,
    files: list[Path],
    configs: list["SiteConfig"],
    progress: RunProgress,
    continuation: "Continuation | None",
) -> Report:
    from wardround.flare.environments import run_study
    from wardround.flare.site_causes import SiteCauses

    causes = SiteCauses(configs)
    log = options.out / LOG
    progress.phase(f"starting FLARE ({options.environment}) with {_sites_in_words(configs)}; its log is {log}")
    try:
        run_study(
            options.study_folder,
            study,
            environment=options.environment,
            sites=files,
            out=options.out,
            on_line=progress.on_line,
            kit=options.kit,
            on_wait=progress.trouble,
            on_answers=progress.on_answers,
            continuation=continuation,
        )
    except WardroundError as error:
        if not log.is_file():
            raise
        hint = next_line(options.out, baselines=options.baselines)
        told = "\n".join([str(error), *causes.lines(), f"FLARE's log: {log}", *([hint] if hint else [])])
        raise FederationFailedError(error.code, told) from error
    for line in causes.lines():
        progress.trouble(line)
    return _after_the_federation(study, options, configs, progress)


def conclude_run(study: Study, options: RunOptions, progress: RunProgress) -> Report:
    """What follows a federation that ended while nobody was there to follow it: its differences, report and manifest.

    Raises:
        FederationFailedError: of what follows, something failed.
    """
    check_baselines(study, options)
    report = _after_the_federation(study, options, _configs(used_sites(options)), progress)
    write_run_manifest(options.out)
    return report


def _after_the_federation(
    study: Study, options: RunOptions, configs: list["SiteConfig"], progress: RunProgress
) -> Report:
    record = options.out / RECORD
    try:
        if options.baselines:
            progress.phase("baselines: each hospital alone, and all data pooled, with the same steps")
            _baselines(study, configs, options.out, progress)
        if configs:
            progress.phase("differences between arms, paired by case")
            _differences(study, configs, record)
    except WardroundError as error:  # what the federation itself found is still to be told
        raise FederationFailedError(error.code, f"after the federation: {error}") from error
    progress.phase("writing the report")
    return write_report(options.out, configs)


def _configs(files: Sequence[Path]) -> list["SiteConfig"]:
    from wardround.site.config import load_site_config

    return [load_site_config(file) for file in files]


def _why(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return Reason.INTERRUPTED
    return str(error.code) if isinstance(error, WardroundError) else type(error).__name__


def _sites_in_words(configs: Sequence["SiteConfig"]) -> str:
    if not configs:
        return "the hospitals that are connected"
    training = sum(config.role == "train" for config in configs)
    outside = len(configs) - training
    return f"{training} training sites" + (f" and {outside} that only evaluates" if outside else "")


def _run_name(record: Path) -> str:
    return next(line.run for line in read_lines(record) if isinstance(line, StartLine))


def _baselines(study: Study, configs: list["SiteConfig"], out: Path, progress: RunProgress) -> None:
    from wardround.site.baselines import run_baselines

    record = out / RECORD

    def on_line(line: RunLine) -> None:
        append_line(record, line)
        progress.on_line(line)

    run_baselines(study, configs, run=_run_name(record), out=out, on_line=on_line)


def _differences(study: Study, configs: list["SiteConfig"], record: Path) -> None:
    from wardround.site.differences import differences
    from wardround.workloads.registry import make_workload

    told = [line for line in read_lines(record) if isinstance(line, DifferenceLine)]
    known = {(line.arm, line.reference, line.split, line.site) for line in told}
    for line in differences(study, make_workload(study), configs, run=_run_name(record)):
        if (line.arm, line.reference, line.split, line.site) not in known:  # a site may have compared at home
            append_line(record, line)
