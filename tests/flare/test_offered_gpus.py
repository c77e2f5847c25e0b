"""A job that wants more GPUs than a site offers is refused with both numbers; one that waits is told what is free."""

from typing import Any

import pytest
from nvflare.apis.fl_context import FLContext
from nvflare.app_common.resource_managers import gpu_resource_manager

from wardround.flare.offered_gpus import OfferedGpus, refused_for_good


def _manager(gpus: int, memory: float, monkeypatch: pytest.MonkeyPatch) -> OfferedGpus:
    monkeypatch.setattr(gpu_resource_manager, "get_host_gpu_ids", lambda: list(range(gpus)))
    monkeypatch.setattr(gpu_resource_manager, "get_host_gpu_memory_total", lambda: [80 * 1024] * gpus)
    return OfferedGpus(num_of_gpus=gpus, mem_per_gpu_in_GiB=memory, expiration_period=300)


@pytest.mark.parametrize(
    ("gpus", "memory", "wanted", "refusal"),
    [
        (0, 0, {"num_of_gpus": 2}, "job wants 2 GPUs, site offers 0 GPUs"),
        (1, 16, {"num_of_gpus": 2}, "job wants 2 GPUs, site offers 1 GPU with 16 GiB each"),
        (
            2,
            16,
            {"num_of_gpus": 1, "mem_per_gpu_in_GiB": 64},
            "job wants 1 GPU with 64 GiB each, site offers 2 GPUs with 16 GiB each",
        ),
    ],
)
def test_a_job_that_wants_more_is_refused_with_both_numbers(
    gpus: int, memory: float, wanted: dict[str, Any], refusal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _manager(gpus, memory, monkeypatch).check_resources(wanted, FLContext()) == (False, refusal)
    assert refused_for_good(f"hospital-a: {refusal}; hospital-b: {refusal}") == [
        f"hospital-a: {refusal}",
        f"hospital-b: {refusal}",
    ]


def test_a_job_that_has_to_wait_for_another_is_told_what_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    manager, wanted = _manager(2, 16, monkeypatch), {"num_of_gpus": 2, "mem_per_gpu_in_GiB": 16}
    enough, token = manager.check_resources(wanted, FLContext())
    assert (enough, bool(token)) == (True, True)
    enough, refusal = manager.check_resources(wanted, FLContext())
    assert (enough, refused_for_good(f"hospital-a: {refusal}")) == (False, [])
    assert refusal == (
        "job wants 2 GPUs with 16 GiB each, site offers 2 GPUs with 16 GiB each and has 0 of them free now"
    )


@pytest.mark.parametrize("wanted", [{}, {"num_of_gpus": 0}])
def test_a_job_that_wants_none_is_taken_anywhere(wanted: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert _manager(0, 0, monkeypatch).check_resources(wanted, FLContext())[0]


def test_jobs_that_name_no_memory_have_gpus_of_their_own_where_the_site_counts_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    manager, wanted, context = _manager(2, 16, monkeypatch), {"num_of_gpus": 1}, FLContext()
    taken = []
    for _ in range(2):
        enough, token = manager.check_resources(wanted, context)
        assert enough
        taken.append((token, manager.allocate_resources(wanted, token, context)))
    assert [list(resources) for _, resources in taken] == [[0], [1]]
    enough, refusal = manager.check_resources(wanted, context)
    assert (enough, refused_for_good(f"hospital-a: {refusal}")) == (False, [])
    assert refusal == "job wants 1 GPU, site offers 2 GPUs with 16 GiB each and has 0 of them free now"
    token, resources = taken[1]
    manager.free_resources(resources, token, context)
    assert manager.check_resources(wanted, context)[0]


def test_where_the_site_counts_no_memory_jobs_share_the_first_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    manager, wanted, context = _manager(2, 0, monkeypatch), {"num_of_gpus": 1}, FLContext()
    for _ in range(2):
        enough, token = manager.check_resources(wanted, context)
        assert enough
        assert list(manager.allocate_resources(wanted, token, context)) == [0]
