"""The endless stream of training batches; with large patches, the next batch is made while the network works."""

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import torch

from wardround.workloads.brain_tumor.augment import training_batch
from wardround.workloads.brain_tumor.prepared import PreparedCase
from wardround.workloads.brain_tumor.settings import Augmentation, Patch
from wardround.workloads.site_data import Batch

# Voxels from which threads pay. Two crops of 32 voxels a side take 1 ms and a step on a CPU 45 ms; two of 128 take
# 100 ms, longer than a step on a GPU.
LARGE_PATCH = 64**3


def training_batches(
    cases: Sequence[PreparedCase], patch: Patch, augmentation: Augmentation, batch_size: int, generator: torch.Generator
) -> Iterator[Batch]:
    """Augmented crops, each case once before any comes again; the same with and without threads.

    With large patches one batch more is drawn from `generator` than is taken, so it should serve nothing else.
    """
    order = visiting_order(len(cases), generator)

    def make(workers: ThreadPoolExecutor | None) -> Batch:
        chosen = [cases[index] for index in islice(order, batch_size)]
        return training_batch(chosen, patch, augmentation, generator, workers)

    if math.prod(patch.size) < LARGE_PATCH:
        while True:
            yield make(None)
    with ThreadPoolExecutor(torch.get_num_threads()) as workers, ThreadPoolExecutor(1) as ahead:
        following = ahead.submit(make, workers)
        while True:
            batch = following.result()
            following = ahead.submit(make, workers)
            yield batch


def visiting_order(count: int, generator: torch.Generator) -> Iterator[int]:
    """Endless indices: each of `count` once in a random order, then all again in another."""
    while True:
        yield from torch.randperm(count, generator=generator).tolist()
