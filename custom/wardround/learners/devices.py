"""Where a network runs, checked before anything is read."""

import re

import torch

from wardround.records.reasons import Reason, WardroundError

_ALLOWED = re.compile(r"cpu|cuda(:\d+)?")


def usable_device(name: str) -> torch.device:
    """The device called `cpu`, `cuda` or `cuda:N`.

    Raises:
        WardroundError: it is called otherwise, or this machine does not have it.
    """
    if not _ALLOWED.fullmatch(name):
        raise WardroundError(Reason.CONFIGURATION_INVALID, f"device: expected cpu, cuda or cuda:N, found {name!r}")
    device = torch.device(name)
    if device.type == "cuda":
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if (device.index or 0) >= count:
            raise WardroundError(
                Reason.CONFIGURATION_INVALID,
                f"device: {name} is not usable here: PyTorch {torch.__version__} finds {count} CUDA devices; "
                "use cpu, or install a driver and a PyTorch for CUDA",
            )
    return device
