"""Seconds and memory from a zipped CSV of 101,766 encounters to tensors, in a process that does nothing else."""

import resource
import time
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection

from study_sites import whole_table
from wardround.learners.devices import usable_device
from wardround.workloads.registry import make_workload


@dataclass(frozen=True)
class Reading:
    """What it took. Memory is the process's peak, and how much of it came after the libraries had been loaded."""

    rows: int
    seconds: float
    peak_megabytes: float
    above_libraries: float


def large_table_rows() -> list[tuple[str, ...]]:
    """Rows of the benchmark's table."""
    reading = read_large_table()
    return [
        ("Diabetes 130, 101,766 rows from CSV to tensors: rows of the study", f"{reading.rows:,}", "", ""),
        ("seconds", f"{reading.seconds:.1f} s", "", "under 10 s"),
        ("peak memory of the process", f"{reading.peak_megabytes:.0f} MB", "", "under 1,000 MB"),
        ("of it above the loaded libraries", f"{reading.above_libraries:.0f} MB", "", ""),
    ]


def read_large_table() -> Reading:
    """Opens the whole file as one site of the readmission study.

    Raises:
        RuntimeError: the process failed; what it printed says why.
    """
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_read, args=(theirs,))
    process.start()
    theirs.close()
    try:
        reading: Reading = ours.recv()
    except EOFError:
        raise RuntimeError("the process that read the table ended before it was done") from None
    finally:
        process.join()
    return reading


def _read(pipe: Connection) -> None:
    study, config = whole_table("readmission")
    workload = make_workload(study)  # loads the libraries that reading needs
    usable_device("cpu")
    before, start = _peak_megabytes(), time.perf_counter()
    section = config.section("clinical_risk", study.name)
    data = workload.open_site(section, cache=config.cache_folder, disclosure=config.disclosure)
    seconds, peak = time.perf_counter() - start, _peak_megabytes()
    rows = sum(data.counts[f"{split}_cases"] for split in ("train", "validation", "test"))
    pipe.send(Reading(rows, seconds, peak, peak - before))


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
