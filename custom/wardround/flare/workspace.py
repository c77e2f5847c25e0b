"""Where FLARE works: a short-lived folder without spaces in its path, and what is taken out of it at the end."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import wardround
from wardround.flare.executor import CONCURRENT_SITES
from wardround.site.processes import available_cores

# FLARE's file in its run folder: where it goes in the results
_RESULTS = {
    "metrics/run.jsonl": "run.jsonl",
    "metrics/round_metrics.jsonl": "flare/round_metrics.jsonl",
    "metrics/metrics_summary.json": "flare/metrics_summary.json",
    "cross_site_val/cross_val_results.json": "flare/cross_val_results.json",
}


@contextlib.contextmanager
def workspace() -> Iterator[Path]:
    """A new empty folder, removed afterwards. FLARE splits command lines at spaces, so its path has none."""
    parent = tempfile.gettempdir()
    folder = Path(tempfile.mkdtemp(prefix="wardround-", dir=parent if " " not in parent else "/tmp"))  # noqa: S108
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def collect_results(run_folder: Path, out: Path) -> None:
    """Copies the record, FLARE's own figures and the models from a server's run folder; what is missing is left out."""
    for source, target in _RESULTS.items():
        if (run_folder / source).is_file():
            (out / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(run_folder / source, out / target)
    if (run_folder / "models").is_dir():
        shutil.copytree(run_folder / "models", out / "models", dirs_exist_ok=True)


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
