"""Prepares cases side by side in threads, into the cache, so that opening them afterwards reads no image.

One thread has one case at a time, so memory holds as many cases as there are threads. Unpacking, hashing and the
arithmetic of numpy and torch let other threads run meanwhile, and no thread has to load torch first.
"""

import logging
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager

import torch

from wardround.records.reasons import WardroundError
from wardround.workloads.brain_tumor.case_cache import CaseCache
from wardround.workloads.brain_tumor.layouts import CaseFiles
from wardround.workloads.brain_tumor.prepare_cases import prepared_once, unforeseen
from wardround.workloads.brain_tumor.room import CaseSize
from wardround.workloads.brain_tumor.settings import BrainTumorSettings, BrainTumorSiteSettings
from wardround.workloads.free_room import free_memory
from wardround.workloads.progress import Progress, unseen

_log = logging.getLogger(__name__)


def threads_for(sizes: Sequence[CaseSize], cores: int) -> int:
    """How many cases may be prepared at once: no more than cores, nor than fit into the memory that is free.

    Args:
        sizes: of the cases to prepare.
        cores: at most so many.
    """
    largest = max((size.peak for size in sizes), default=1)
    return max(1, min(cores, len(sizes), int(free_memory() // largest)))


def prepare_ahead(
    cases: Sequence[CaseFiles],
    settings: BrainTumorSettings,
    site: BrainTumorSiteSettings,
    store: CaseCache,
    *,
    threads: int,
    progress: Progress = unseen,
) -> dict[str, WardroundError]:
    """Puts all cases into the cache that can be; gives why the others cannot, by case.

    Args:
        cases: whose headers are in order.
        settings: the study's.
        site: the site's.
        store: the cache.
        threads: how many at once.
        progress: is told how many cases are done.
    """
    problems: dict[str, WardroundError] = {}

    ending = threading.Event()

    def heed() -> None:
        if ending.is_set():
            raise _EndedError

    def put(files: CaseFiles) -> None:
        # what it gives is read again when it is its turn
        prepared_once(files, settings, site, store, between_steps=heed)

    with _one_core_each(), _pool(threads, ending) as pool:
        running = {pool.submit(put, files): files for files in cases}
        for done, future in enumerate(as_completed(running), 1):
            files = running[future]
            try:
                future.result()
            except WardroundError as error:
                problems[files.case] = error
            except Exception as error:
                _log.info("%s: cannot be prepared", files.case, exc_info=True)
                problems[files.case] = unforeseen(files.case, error)
            progress("cases decompressed", done, len(cases))
    store.hashes.save()
    return problems


class _EndedError(Exception):
    """Nobody waits for the case any more."""


@contextmanager
def _pool(threads: int, ending: threading.Event) -> Iterator[ThreadPoolExecutor]:
    """Ends at once what has not begun where the block is left, as by Ctrl-C, and what has begun at its next step."""
    pool = ThreadPoolExecutor(threads, thread_name_prefix="prepare")
    try:
        yield pool
    finally:
        ending.set()
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _one_core_each() -> Iterator[None]:
    """Threads that begin in the block compute on one core each, not on all at once."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
