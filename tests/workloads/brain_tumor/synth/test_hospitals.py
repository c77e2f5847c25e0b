import pytest

from wardround.workloads.brain_tumor.synth.hospitals import HOSPITALS, choose_hospitals


def test_the_first_four_are_set_and_further_ones_drawn_from_the_seed():
    first, again, other = (choose_hospitals(6, seed=seed) for seed in (1, 1, 2))
    assert [h.name for h in first] == [f"hospital-{letter}" for letter in "abcdef"]
    assert first[:4] == list(HOSPITALS.values()) == other[:4]
    assert first == again
    assert first[4] != first[5] != other[5]


def test_shift_zero_makes_all_hospitals_one_and_two_takes_them_further_apart():
    base = HOSPITALS["hospital-a"]
    for hospital in choose_hospitals(4, seed=0, shift=0):
        assert (hospital.noise, hospital.gamma, hospital.slice_factor) == (base.noise, base.gamma, base.slice_factor)
    far = choose_hospitals(4, seed=0, shift=2)[1]
    assert far.noise == pytest.approx(0.10)
    assert far.no_enhancing_share == pytest.approx(0.40)
    assert all(low < high for low, high in (far.tumor_radius, far.core_fraction))


@pytest.mark.parametrize(("count", "shift"), [(0, 1.0), (27, 1.0), (3, -1.0)])
def test_what_cannot_be_is_refused(count, shift):
    with pytest.raises(ValueError, match="expected"):
        choose_hospitals(count, seed=0, shift=shift)
