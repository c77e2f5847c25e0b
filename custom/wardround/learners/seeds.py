"""Seeds that are a function of what is trained, where and when, and of nothing else."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import torch


def seed_of(*parts: int | str) -> int:
    """63 bits of the SHA-256 of the parts: unlike `hash`, the same in every process."""
    text = "\x1f".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


@contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[torch.Generator]:
    """Within the block torch's global generators (dropout, initial values) start from `seed`; after it they go on
    as if nothing had happened. Yields a CPU generator of its own for the order of batches and augmentation."""
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield torch.Generator().manual_seed(seed_of(seed, "batches"))
