"""Where FLARE works: a short-lived folder without spaces in its path, and what is taken out of it at the end."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import wardround
from wardround.flare.executor import CONCURRENT_SITES
from wardround.records.files import write_whole
from wardround.records.server_state import FOLDER, STATE_FILE, STORED_FILE, rounds_kept, state_file
from wardround.site.processes import available_cores

# FLARE's file in its run folder: where it goes in the results
_RECORD = "metrics/run.jsonl"
_RESULTS = {
    "metrics/round_metrics.jsonl": "flare/round_metrics.jsonl",
    "metrics/metrics_summary.json": "flare/metrics_summary.json",
    "cross_site_val/cross_val_results.json": "flare/cross_val_results.json",
}
PREFIX = "wardround-"  # of the short-lived folders
_START = b'{"kind":"start"'
_UNFINISHED = shutil.ignore_patterns(".*")


@contextlib.contextmanager
def workspace() -> Iterator[Path]:
    """A new empty folder, removed afterwards. FLARE splits command lines at spaces, so its path has none."""
    parent = tempfile.gettempdir()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent if " " not in parent else "/tmp"))  # noqa: S108
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def collect_results(run_folder: Path, out: Path) -> None:
    """Copies the record, FLARE's own figures, models and checkpoints from a server's run folder, as far as they are
    there."""
    _collect_record(run_folder / _RECORD, out / "run.jsonl")
    for source, target in _RESULTS.items():
        if (run_folder / source).is_file():
            (out / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(run_folder / source, out / target)
    if (run_folder / "models").is_dir():
        shutil.copytree(run_folder / "models", out / "models", dirs_exist_ok=True, ignore=_UNFINISHED)
    _collect_checkpoints(run_folder / FOLDER, out / FOLDER)


def collect_what_a_run_goes_on_from(run_folder: Path, out: Path) -> None:
    """While FLARE works: the record and the checkpoints, so that a killed command's results have them."""
    _collect_record(run_folder / _RECORD, out / "run.jsonl")
    _collect_checkpoints(run_folder / FOLDER, out / FOLDER)


def _collect_record(source: Path, target: Path) -> None:
    if not source.is_file():
        return
    found = source.read_bytes()
    if target.is_file() and target.stat().st_size == len(found):  # it only grows
        return
    if target.is_file() and not found.startswith(_START):  # a job that ended before it could go on with a run
        before = target.read_bytes()
        found = before if before.endswith(found) else before + found
    write_whole(target, found)


def _collect_checkpoints(source: Path, target: Path) -> None:
    """The states last; what the server has forgotten is forgotten."""
    if not source.is_dir():
        return
    names = sorted(file.name for file in source.iterdir() if STORED_FILE.match(file.name))
    states = [state_file(source, one).name for one in rounds_kept(source)]
    for name in (*names, *states):
        with contextlib.suppress(FileNotFoundError):  # forgotten since; the next look finds the newer ones
            if name in states or not (target / name).is_file():
                _copy_if_new(source / name, target / name)
    held = {*names, *states}
    for file in target.iterdir() if target.is_dir() and states else ():
        if file.name not in held and (STORED_FILE.match(file.name) or STATE_FILE.match(file.name)):
            file.unlink()


def _copy_if_new(source: Path, target: Path) -> None:
    content = source.read_bytes()
    if not target.is_file() or target.read_bytes() != content:
        write_whole(target, content)


def site_environment(sites: int) -> dict[str, str]:
    """Environment for `sites` site processes that share this machine, set before torch is loaded in them.

    Idle OpenMP threads that spin take the cores from the other sites: three sites on two cores ran 3.8 times
    faster with a passive wait and one thread each.
    """
    threads = max(1, available_cores() // max(1, sites))
    ours = str(Path(wardround.__file__).parents[1])  # the children run the code that this process runs
    return {
        CONCURRENT_SITES: str(sites),
        "OMP_NUM_THREADS": str(threads),
        "OMP_WAIT_POLICY": "PASSIVE",
        "PYTHONPATH": os.pathsep.join(filter(None, [ours, os.environ.get("PYTHONPATH", "")])),
    }
