from wardround.records.arms import POOLED, alone_at, is_alone, is_baseline, site_of


def test_a_hospitals_own_model_is_told_from_the_others() -> None:
    arm = alone_at("hospital-a")
    assert arm == "alone:hospital-a"  # as records of earlier runs have it
    assert site_of(arm) == "hospital-a"
    assert [is_alone(one) for one in (arm, POOLED, "best")] == [True, False, False]
    assert [is_baseline(one) for one in (arm, POOLED, "best", "personalised")] == [True, True, False, False]
