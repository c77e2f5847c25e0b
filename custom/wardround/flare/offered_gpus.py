"""The GPUs that a site offers to jobs: FLARE's manager, which tells a job that it refuses how many there are."""

import re
from typing import Any

from nvflare.apis.fl_context import FLContext
from nvflare.app_common.resource_managers.gpu_resource_manager import GPUResourceManager

_NOW = "free now"


class OfferedGpus(GPUResourceManager):
    """FLARE's manager of GPUs, with two differences.

    FLARE counts a GPU's memory and not who has it: a job that names no memory, as wardround's, is given the first GPUs
    again, whoever works there. Here such a job takes the whole memory of each GPU that it gets, so that GPUs are each
    job's own, unless the site counts no memory. And where FLARE says no without a reason, this says what was asked for
    and what there is.

    The server keeps the reason in the job's `schedule_history`, where whoever submitted the job can read it. It holds
    numbers of the job and of the site's own `resources.json` only.

    Args:
        num_of_gpus: offered to jobs.
        mem_per_gpu_in_GiB: of each, that jobs together may ask for; 0: not counted, and jobs at the same time share
            the first GPUs.
        **options: FLARE's.
    """

    def __init__(self, num_of_gpus: int, mem_per_gpu_in_GiB: float, **options: Any) -> None:  # noqa: N803 - FLARE gives arguments by name
        super().__init__(num_of_gpus, mem_per_gpu_in_GiB, **options)
        self._memory_of_each = mem_per_gpu_in_GiB

    def check_resources(self, resource_requirement: dict[str, Any], fl_ctx: FLContext) -> tuple[bool, str]:
        """Whether the job may have its GPUs; then the token of the reservation, else why not."""
        enough, token = super().check_resources(self._counted(resource_requirement), fl_ctx)
        return enough, token if enough else self._refusal(resource_requirement)

    def _counted(self, wanted: dict[str, Any]) -> dict[str, Any]:
        return {self.gpu_mem_key: self._memory_of_each, **wanted} if wanted else wanted

    def _refusal(self, wanted: dict[str, Any]) -> str:
        number, memory = wanted[self.num_gpu_key], wanted.get(self.gpu_mem_key, 0)
        needed = self._counted(wanted)[self.gpu_mem_key]
        offered = len(self.resources)
        refusal = f"job wants {_in_words(number, memory)}, site offers {_in_words(offered, self._memory_of_each)}"
        if number > offered or memory > self._memory_of_each:
            return refusal
        free = sum(one.memory >= needed for one in self.resources.values())
        return f"{refusal} and has {free} of them {_NOW}"


def refused_for_good(reason: str) -> list[str]:
    """Of a reason in a job's `schedule_history`, the sites that offer less than the job wants, each with the numbers;
    those whose GPUs are only taken by other jobs are not among them."""
    found = re.findall(r"[^\s;]+: job wants [^;]*?, site offers [^;]*", reason)
    return [text.strip() for text in found if _NOW not in text]


def _in_words(number: int, memory: float) -> str:
    each = f" with {memory:g} GiB each" if memory and number else ""
    return f"{number} GPU{'' if number == 1 else 's'}{each}"
