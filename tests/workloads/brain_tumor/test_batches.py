import gc
import threading
from itertools import islice

import torch

from support.made_cases import SETTINGS, site, write_case
from wardround.workloads.brain_tumor import batches
from wardround.workloads.brain_tumor.batches import training_batches, visiting_order
from wardround.workloads.brain_tumor.open_site import open_site_data
from wardround.workloads.brain_tumor.prepared import PreparedCase
from wardround.workloads.brain_tumor.settings import Augmentation


def _cases(tmp_path) -> list[PreparedCase]:
    for patient in range(3):
        write_case(tmp_path / "data", f"P-{patient}-000", seed=patient)
    split = {"train": ["P-0", "P-1", "P-2"], "validation": [], "test": []}
    data = open_site_data(SETTINGS, site(tmp_path / "data", split=split), cache=tmp_path / "cache")
    return list(data.cases("train"))


def _generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_threads_change_nothing_and_end_with_the_stream(tmp_path, monkeypatch):
    cases = _cases(tmp_path)
    arguments = (cases, SETTINGS.patch, Augmentation(), 2)
    plain = list(islice(training_batches(*arguments, _generator()), 7))
    before = threading.active_count()
    monkeypatch.setattr(batches, "LARGE_PATCH", 1)
    stream = training_batches(*arguments, _generator())
    threaded = list(islice(stream, 7))
    assert threading.active_count() > before
    for one, other in zip(plain, threaded, strict=True):
        assert torch.equal(one[0], other[0])
        assert torch.equal(one[1], other[1])
    del stream
    gc.collect()
    assert threading.active_count() == before


def test_every_case_is_visited_once_before_any_is_again():
    order = list(islice(visiting_order(5, _generator()), 15))
    for first in range(0, 15, 5):
        assert sorted(order[first : first + 5]) == list(range(5))
    assert order[:5] != order[5:10]
