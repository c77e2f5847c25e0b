"""run_study and export_job: one study, any environment, with a record that grows while it runs."""

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import torch
from psutil import Process

from wardround.flare.continuation import Continuation
from wardround.flare.controller import new_run_name
from wardround.flare.failure import cause_of
from wardround.flare.poc import run_in_poc
from wardround.flare.production import run_in_production
from wardround.flare.recipe import StudyRecipe
from wardround.flare.simulator import run_in_simulator
from wardround.records.launch import Launch, note_launch, write_launch
from wardround.records.reasons import Reason, WardroundError
from wardround.records.run_lines import EndLine, Environment, RunLine, read_lines
from wardround.records.server_state import FOLDER
from wardround.records.study import Study, check_key_metric
from wardround.records.task_answers import TaskAnswers
from wardround.site.config import SiteConfig, load_site_config
from wardround.site.safe_quorum import refuse_small_quorum
from wardround.workloads.registry import make_workload

_ENDING = "FINISHED:"  # how FLARE names the end of any job that failed, whatever the cause
_MORE = "; the words behind a code are in that site's own site.log"


def run_study(
    study_folder: Path,
    study: Study,
    *,
    environment: Environment,
    sites: list[Path],
    out: Path,
    on_line: Callable[[RunLine], None],
    kit: Path | None = None,
    run_name: str | None = None,
    on_wait: Callable[[str], None] | None = None,
    on_answers: Callable[[TaskAnswers], None] | None = None,
    continuation: Continuation | None = None,
) -> Path:
    """Runs a study and returns its `run.jsonl`.

    `out` gets run.jsonl, flare.log, models/ and FLARE's own figures in flare/, launch.json, and until the run is
    complete checkpoint/. FLARE runs in child processes, none of which outlives the call, Ctrl-C included; production's
    processes are the hospitals' own.

    Args:
        study_folder: the folder of the job.yaml, for messages.
        study: the study, overrides applied.
        environment: `sim`, `poc` or `prod`.
        sites: the site.yaml files of sites on this machine (`sim`, `poc`); `prod`: empty, each hospital has its own.
        out: the results' folder, empty or new: what is in it would be taken for this run's.
        on_line: gets every line of the record as it is written.
        kit: the admin's startup kit, for `prod`.
        on_wait: gets, in `prod`, each new reason why the job waits for its start.
        on_answers: gets who has answered the server's newest order, whenever that has changed.
        run_name: names the run at the sites; by default the study and the time. A new run needs a new name.
        continuation: what to go on with, under the same name; `out` is that run's folder then.

    Raises:
        WardroundError: with the cause in one line. What there is of the record is in `out`.
    """
    configs = check_study(study_folder, study, environment=environment, sites=sites, kit=kit)
    out.mkdir(parents=True, exist_ok=True)
    name = continuation.state.run if continuation else run_name or new_run_name(study)
    own = Process()
    launch = Launch(
        environment=environment,
        study=study.name,
        run=name,
        sites=[file.resolve() for file in sites],
        kit=kit.resolve() if kit else None,
        process=own.pid,
        process_started=own.create_time(),
        out=out.resolve(),
    )
    write_launch(out, launch)
    try:
        if environment == "prod":
            assert kit is not None
            run_in_production(
                study,
                kit,
                run_name=name,
                out=out,
                on_line=on_line,
                on_wait=on_wait,
                on_answers=on_answers,
                continuation=continuation,
            )
        else:
            run = run_in_simulator if environment == "sim" else run_in_poc
            run(
                study,
                configs,
                run_name=name,
                out=out,
                on_line=on_line,
                on_answers=on_answers,
                continuation=continuation,
            )
    finally:
        note_launch(out, process=None, process_started=None, mark=None, workspace=None, run_folder=None)
    return _judge(out)


def check_study(
    study_folder: Path, study: Study, *, environment: Environment, sites: list[Path], kit: Path | None = None
) -> list[SiteConfig]:
    """Refuses what can be known not to fit before FLARE is started; returns the sites of this machine.

    Raises:
        WardroundError: see `run_study`.
    """
    workload = make_workload(study)
    check_key_metric(study, workload.metric_names(), "the workload", last=workload.last_metric_names())
    if environment != "prod":
        _refuse_missing_gpus(study)
        return _local_sites(sites, study)
    if kit is None:
        raise WardroundError(
            Reason.ENVIRONMENT_INVALID, f"{study_folder}: --env prod needs --kit, the admin's startup kit"
        )
    refuse_small_quorum(study)
    return []


def export_job(study_folder: Path, study: Study, folder: Path) -> Path:
    """Writes the FLARE job `folder/<study name>` for `nvflare job submit`, and returns it.

    Raises:
        WardroundError: the study cannot be made into a job.
    """
    folder.mkdir(parents=True, exist_ok=True)
    StudyRecipe(study).export(str(folder))
    job = folder / study.name
    if not (job / "meta.json").is_file():
        raise WardroundError(Reason.FLARE_FAILED, f"{study_folder}: FLARE wrote no job into {folder}")
    return job


def _refuse_missing_gpus(study: Study) -> None:
    here = torch.cuda.device_count()
    if study.federation.gpus > here:
        raise WardroundError(
            Reason.ENVIRONMENT_INVALID,
            f"federation.gpus: {study.federation.gpus} are wanted at each site, this machine has {here}; "
            "set it to 0 for the device of each site.yaml",
        )


def _local_sites(files: list[Path], study: Study) -> list[SiteConfig]:
    configs = [load_site_config(file) for file in files]
    twice = [name for name, count in Counter(config.name for config in configs).items() if count > 1]
    if twice:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID, f"site.yaml: name {twice[0]!r} is used by more than one site"
        )
    training = [config.name for config in configs if config.role == "train"]
    if not all(config.synthetic for config in configs if config.role == "train"):
        refuse_small_quorum(study)  # each site would, too
    if len(training) < study.federation.quorum:
        raise WardroundError(
            Reason.QUORUM_NOT_MET,
            f"federation.quorum: {study.federation.quorum} training sites are needed, "
            f"{len(training)} are configured ({', '.join(training) or 'none'})",
        )
    return configs


def _judge(out: Path) -> Path:
    record = out / "run.jsonl"
    lines = read_lines(record) if record.is_file() else []
    end = next((line for line in reversed(lines) if isinstance(line, EndLine)), None)
    cause = cause_of(out / "flare.log")
    if end is not None and end.status == "complete":
        shutil.rmtree(out / FOLDER, ignore_errors=True)  # there is nothing to go on with
    if end is None:
        why = cause or "it does not say why; see flare.log in the results' folder"
        raise WardroundError(Reason.FLARE_FAILED, f"FLARE ended the run early: {why}")
    if end.status == "failed":  # sites that FLARE could not start look late to the server: only the log knows more
        more = cause if cause and not cause.startswith(_ENDING) else ""  # the record says why the job ended so
        line = end.reasons[0] + (f"; FLARE says: {more}" if more else "")
        raise WardroundError(Reason.FLARE_FAILED, line + (_MORE if _names_a_sites_failure(line) else ""))
    return record


def _names_a_sites_failure(line: str) -> bool:
    return any(f": {code}" in line for code in set(Reason) - {Reason.ABSENT, Reason.LATE})
