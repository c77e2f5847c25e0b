"""The first model takes what follows from the sites' sums, and refuses what does not fit."""

import pytest
import torch

from support.fake_workload import FakeData, FakeWorkload, make_study
from wardround.learners.initial import initial_network, initial_shared_entries, with_statistics
from wardround.records.reasons import Reason, WardroundError
from wardround.records.scores import Tally

SITES = FakeData(1, cases=4, gain=3.0), FakeData(2, offset=2.0)


def test_mean_and_scale_are_those_of_all_sites_together() -> None:
    workload = FakeWorkload(scaled=True)
    shared = initial_shared_entries(workload, make_study(), [t for site in SITES for t in site.statistics()])
    pixels = torch.cat([site.splits["train"][0].flatten() for site in SITES])
    assert shared["scaling.mean"].item() == pytest.approx(pixels.mean().item(), rel=1e-5)
    assert shared["scaling.scale"].item() == pytest.approx(pixels.std(correction=0).item(), rel=1e-5)
    fresh = initial_network(workload, make_study()).state_dict()
    assert all(torch.equal(shared[name], fresh[name]) for name in shared if not name.startswith("scaling."))


def test_without_sums_it_is_the_fresh_network() -> None:
    workload = FakeWorkload(scaled=True)
    shared = initial_shared_entries(workload, make_study())
    assert all(torch.equal(t, initial_network(workload, make_study()).state_dict()[n]) for n, t in shared.items())


@pytest.mark.parametrize(
    ("entries", "code"),
    [
        ({"scaling.men": torch.zeros(1)}, Reason.NAMES_MISMATCH),
        ({"norm.weight": torch.zeros(4)}, Reason.NAMES_MISMATCH),  # stays at each site under FedBN
        ({"scaling.mean": torch.zeros(2)}, Reason.SHAPE_MISMATCH),
        ({"scaling.mean": torch.tensor([float("nan")])}, Reason.NOT_FINITE),
    ],
)
def test_entries_that_do_not_fit_are_refused_by_name(
    entries: dict[str, torch.Tensor], code: Reason, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeWorkload, "initial_entries", lambda *_: entries)
    with pytest.raises(WardroundError, match=next(iter(entries))) as caught:
        initial_shared_entries(FakeWorkload(scaled=True), make_study(algorithm={"kind": "fedbn"}))
    assert caught.value.code is code


def test_sums_that_the_workload_cannot_read_are_no_crash() -> None:
    with pytest.raises(WardroundError, match="no initial model") as caught:
        with_statistics({}, FakeWorkload(scaled=True), [Tally(name="pixels", counts={"total": 1.0}, n=9)])
    assert caught.value.code is Reason.REPLY_INVALID
    nobody = Tally(name="pixels", counts={"sum": 0.0, "sum_of_squares": 0.0, "pixels": 0.0}, n=9)
    with pytest.raises(WardroundError, match="no initial model"):
        with_statistics({}, FakeWorkload(scaled=True), [nobody])


def test_sums_of_one_name_over_different_things_are_refused() -> None:
    sums = [Tally(name="age", counts={"sum": 1.0}, n=9), Tally(name="age", counts={"total": 1.0}, n=9)]
    with pytest.raises(WardroundError, match="tally age"):
        with_statistics({}, FakeWorkload(), sums)
