"""Thresholds of disk, memory and shared memory, and a GPU that is there, is not, or does not compute."""

import sys
from collections import namedtuple
from pathlib import Path

import psutil
import pytest
import torch

from wardround.site import machine
from wardround.site.machine import check_disk, check_gpu, check_memory, check_shared_memory

GIB = 2**30
_Usage = namedtuple("_Usage", "total used free")


@pytest.mark.parametrize(("free", "status"), [(1, "failed"), (10, "warning"), (30, "ok")])
def test_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, status: str) -> None:
    monkeypatch.setattr(machine.shutil, "disk_usage", lambda _: _Usage(100 * GIB, 0, free * GIB))
    found = check_disk(tmp_path / "not" / "there yet")
    assert found.status == status
    assert f"{free}.0 GiB free at {tmp_path}" in found.text


@pytest.mark.parametrize(("size", "status"), [(64 * 2**20, "warning"), (2**20, "failed"), (2 * GIB, "ok")])
def test_shared_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, status: str) -> None:
    monkeypatch.setattr(machine.shutil, "disk_usage", lambda _: _Usage(size, 0, 0))
    found = check_shared_memory(tmp_path)
    assert found.status == status
    assert ("shm_size" in found.text) == (status != "ok")
    assert check_shared_memory(tmp_path / "none").status == "skipped"


def test_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = namedtuple("memory", "available")
    for gib, status in ((1, "failed"), (5, "warning"), (16, "ok")):
        monkeypatch.setattr(psutil, "virtual_memory", lambda gib=gib: memory(gib * GIB))
        assert check_memory().status == status


def test_no_gpu_is_fine_unless_one_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert (check_gpu("cpu", 0).status, check_gpu("cpu", 0).text) == ("ok", "no GPU")
    assert check_gpu("cuda", 0).status == "failed"
    assert check_gpu("cpu", 2).text == "no GPU, but site.yaml asks for cpu and resources.json offers 2"


def test_fewer_gpus_than_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    assert check_gpu("cuda", 2).text == "1 here, but resources.json offers 2 to jobs"


def test_a_gpu_that_does_not_compute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch, "ones", _no_kernel)
    found = check_gpu("cuda", 1)
    assert found.status == "failed"
    assert found.text == "a CUDA operation failed: no kernel image is available"


def test_without_torch_it_is_a_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert check_gpu("cpu", 0).text == "torch is not installed here (a parent's image has none)"


def _no_kernel(*_: object, **__: object) -> torch.Tensor:
    raise RuntimeError("no kernel image is available\nfor execution on the device")
