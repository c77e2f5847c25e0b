"""Prepares cases side by side in processes, into the cache, so that opening them afterwards reads no image.

One process has one case at a time, so memory holds as many cases as there are processes. A process that dies takes
its case along and no other: the case is named, and a fresh process goes on.
"""

import logging
import os
import signal
from collections import deque
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path

import torch

from wardround.records.faults import fault
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.brain_tumor.case_cache import CaseCache
from wardround.workloads.brain_tumor.content_hash import Remembered
from wardround.workloads.brain_tumor.layouts import CaseFiles
from wardround.workloads.brain_tumor.place import Place
from wardround.workloads.brain_tumor.prepare_cases import prepared_once, unforeseen
from wardround.workloads.brain_tumor.settings import BrainTumorSettings, BrainTumorSiteSettings
from wardround.workloads.progress import Progress, unseen

_log = logging.getLogger(__name__)
_WORTH_VOXELS = 5e8  # some fifty seconds of one core: fewer are prepared sooner than a process has loaded torch
_BYTES = 4 * 10  # of a voxel at the peak: float32, in ten arrays of its size


def processes_for(cases: Sequence[CaseFiles], places: Sequence[Place], cores: int) -> int:
    """How many processes are worth starting, and fit into the memory that is free; 1 for none.

    Args:
        cases: to prepare.
        places: where each lies.
        cores: at most so many.
    """
    voxels = [len(c.volumes) * p.shape[0] * p.shape[1] * p.shape[2] for c, p in zip(cases, places, strict=True)]
    if sum(voxels) < _WORTH_VOXELS:
        return 1
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, min(cores, len(cases), int(free // (max(voxels) * _BYTES))))


def prepare_ahead(
    cases: Sequence[CaseFiles],
    settings: BrainTumorSettings,
    site: BrainTumorSiteSettings,
    store: CaseCache,
    *,
    processes: int,
    progress: Progress = unseen,
) -> dict[str, WardroundError]:
    """Puts all cases into the cache that can be; gives why the others cannot, by case.

    Args:
        cases: whose headers are in order.
        settings: the study's.
        site: the site's.
        store: the cache.
        processes: how many at once.
        progress: is told how many cases are done.
    """
    problems: dict[str, WardroundError] = {}
    waiting = deque(cases)
    idle = [_fresh() for _ in range(processes)]
    running: dict[Future[Remembered], tuple[ProcessPoolExecutor, CaseFiles]] = {}
    work = partial(_prepare, settings=settings, site=site, folder=store.folder)
    try:
        while waiting or running:
            while waiting and idle:
                executor, files = idle.pop(), waiting.popleft()
                running[executor.submit(work, files)] = (executor, files)
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                executor, files = running.pop(future)
                try:
                    store.hashes.adopt(future.result())
                except WardroundError as error:
                    problems[files.case] = error
                except BrokenProcessPool:
                    problems[files.case] = _died(files)
                    executor.shutdown(wait=False)
                    executor = _fresh()
                except Exception as error:
                    _log.info("%s: cannot be prepared", files.case, exc_info=True)
                    problems[files.case] = unforeseen(files.case, error)
                idle.append(executor)
                progress("cases decompressed", len(cases) - len(waiting) - len(running), len(cases))
    finally:
        for executor in [*idle, *(executor for executor, _ in running.values())]:
            executor.shutdown(wait=True, cancel_futures=True)
    store.hashes.save()
    return problems


def _fresh() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_begin)


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, which ends its children
    torch.set_num_threads(1)


def _prepare(files: CaseFiles, settings: BrainTumorSettings, site: BrainTumorSiteSettings, folder: Path) -> Remembered:
    store = _store(folder)
    prepared_once(files, settings, site, store)
    return store.hashes.remembered(files.all)


@cache
def _store(folder: Path) -> CaseCache:
    return CaseCache(folder)


def _died(files: CaseFiles) -> WardroundError:
    first = next(iter(files.volumes.values()))
    place = first.file if first.channel is not None else first.file.parent
    told = fault(
        "the process that prepared it died",
        file=place,
        case=files.case,
        expected="files that can be read within this machine's memory",
        advice="training would die of it too: most often there is too little memory; else take the case out",
    )
    return WardroundError(Reason.WORKER_DIED, told)
