"""What a site's machine has for training: disk, memory, shared memory, a GPU that computes."""

import shutil
from pathlib import Path

import psutil

from wardround.site.check import Check, Status

_GIB = 2**30
# (fails under, warns under), GiB free. A job of the shipped studies needs under 2 GiB of each; caches of real
# images and a second job next to it need more
_DISK, _MEMORY, _SHARED = (2.0, 20.0), (2.0, 8.0), (0.05, 1.0)
_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108  the mount itself is looked at, nothing is written


def check_disk(folder: Path) -> Check:
    """Free space where the site keeps its state; a folder that is not there yet is looked at through its parent."""
    while not folder.exists():
        folder = folder.parent
    return _against("disk", shutil.disk_usage(folder).free / _GIB, _DISK, f"free at {folder}", "free some")


def check_memory() -> Check:
    """Memory that a job could have now."""
    return _against("memory", psutil.virtual_memory().available / _GIB, _MEMORY, "available", "stop other work")


def check_shared_memory(mount: Path = _SHARED_MEMORY) -> Check:
    """Size of /dev/shm, through which loader processes hand over batches; containers get 64 MB unless told."""
    if not mount.is_dir():
        return Check("shared memory", "skipped", f"{mount}: not on this system")
    size = shutil.disk_usage(mount).total / _GIB
    return _against("shared memory", size, _SHARED, f"at {mount}", "give a container more: shm_size")


def check_gpu(device: str, gpus: int) -> Check:
    """Computes something on the GPU that site.yaml names.

    Args:
        device: of site.yaml.
        gpus: how many resources.json offers to jobs.
    """
    try:
        import torch
    except ImportError:
        return Check("gpu", "skipped", "torch is not installed here (a parent's image has none)")
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if count == 0:
        wanted = device.startswith("cuda") or gpus > 0
        asks = f", but site.yaml asks for {device} and resources.json offers {gpus}" if wanted else ""
        return Check("gpu", "failed" if wanted else "ok", f"no GPU{asks}")
    if gpus > count:
        return Check("gpu", "failed", f"{count} here, but resources.json offers {gpus} to jobs")
    try:
        target = torch.device(device if device.startswith("cuda") else "cuda")
        total = float(torch.ones(1024, 1024, device=target).matmul(torch.ones(1024, 1, device=target)).sum())
    except (RuntimeError, AssertionError) as error:
        return Check("gpu", "failed", f"a CUDA operation failed: {str(error).splitlines()[0]}")
    name = torch.cuda.get_device_name(target)
    if total != 1024.0 * 1024.0:
        return Check("gpu", "failed", f"{name}: a CUDA operation gave {total:g}, expected {1024 * 1024}")
    unused = "" if device.startswith("cuda") else "; site.yaml says device: cpu"
    return Check("gpu", "ok", f"{count} here, a CUDA operation ran on {name}{unused}")


def _against(name: str, found: float, limits: tuple[float, float], where: str, remedy: str) -> Check:
    fails, warns = limits
    text = f"{found:.1f} GiB {where}"
    if found >= warns:
        return Check(name, "ok", text)
    status: Status = "failed" if found < fails else "warning"
    return Check(name, status, f"{text}, expected {fails if status == 'failed' else warns:g} or more: {remedy}")
