import pytest

from wardround.metrics.pooling import pool, pooled_dice
from wardround.records.scores import Tally


def _voxels(both: float, predicted: float, reference: float, n: int) -> Tally:
    return Tally(name="voxels_wt", counts={"both": both, "predicted": predicted, "reference": reference}, n=n)


def test_pooled_dice_is_the_dice_of_all_voxels_together():
    [tally] = pool([_voxels(10, 20, 30, 2), _voxels(90, 100, 100, 3)])
    assert tally.n == 5
    assert pooled_dice(tally) == pytest.approx(2 * 100 / 250)


def test_patients_behind_sums_add_up_where_every_site_tells_them():
    told = [Tally(name="age", counts={"sum": 1.0}, n=rows, support=patients) for rows, patients in ((9, 7), (5, 5))]
    assert (pool(told)[0].n, pool(told)[0].support) == (14, 12)
    assert pool([*told, Tally(name="age", counts={"sum": 1.0}, n=3)])[0].support is None


def test_nothing_to_pool_is_undefined_and_not_zero():
    assert pooled_dice(_voxels(0, 50, 0, 2)) is None


def test_names_are_kept_apart_and_sorted():
    tallies = [_voxels(1, 1, 1, 1), Tally(name="dice_wt", counts={"sum": 1, "cases": 1}, n=1)]
    assert [tally.name for tally in pool(tallies)] == ["dice_wt", "voxels_wt"]


def test_sites_that_count_different_things_are_refused():
    with pytest.raises(ValueError, match="voxels_wt"):
        pool([_voxels(1, 1, 1, 1), Tally(name="voxels_wt", counts={"both": 1}, n=1)])
