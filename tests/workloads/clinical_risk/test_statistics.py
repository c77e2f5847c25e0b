import numpy as np
import pytest
import torch

from support.made_tables import CONTRACT, made_frame
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.clinical_risk.contract import Contract
from wardround.workloads.clinical_risk.encode import encode, input_names
from wardround.workloads.clinical_risk.rows import Rows
from wardround.workloads.clinical_risk.statistics import (
    MIDDLE,
    SMALLEST_SCALE,
    column_sums,
    mean_and_scale,
    own_mean_and_scale,
)


@pytest.fixture
def contract():
    return Contract.model_validate(CONTRACT)


def encoded(seed, contract):
    frame = made_frame(seed)
    inputs = encode(frame.with_columns(ward=frame["ward"].replace("garden", "other")), contract)
    return rows_of(inputs, frame["person"].to_list())


def rows_of(inputs, patients):
    return Rows(torch.from_numpy(inputs), torch.zeros(len(inputs), 1), patients, patients, {})


def test_the_sums_of_sites_give_the_mean_and_deviation_of_the_pooled_rows(contract):
    sites = [encoded(seed, contract) for seed in (1, 2, 3)]
    mean, scale = mean_and_scale([tally for site in sites for tally in column_sums(site, contract)], contract)
    pooled = torch.cat([site.inputs for site in sites])[:, :2].double().numpy()
    np.testing.assert_allclose(mean[:2], np.nanmean(pooled, axis=0), rtol=1e-6)
    np.testing.assert_allclose(scale[:2], np.nanstd(pooled, axis=0), rtol=1e-6)


def test_a_constant_column_has_scale_one_and_so_have_indicators_and_categories(contract):
    mean, scale = mean_and_scale(column_sums(encoded(1, contract), contract), contract)
    assert mean[2].item() == pytest.approx(0.3)
    assert scale[2:].tolist() == [1] * (len(input_names(contract)) - 2)
    assert not mean[3:].any()


def test_missing_values_count_in_no_sum(contract):
    site = encoded(1, contract)
    tallies = {tally.name: tally for tally in column_sums(site, contract)}
    assert tallies["column_age"].n == len(site)
    assert tallies["column_urea"].n == site.inputs[:, 1].isfinite().sum() < len(site)


def test_a_sum_names_the_patients_whose_value_is_not_the_commonest(contract):
    site = encoded(1, contract)
    site.inputs[:, 0] = 0.0
    site.inputs[:3, 0] = torch.tensor([0.4, 0.6, 0.1])
    tallies = {tally.name: tally for tally in column_sums(site, contract)}
    assert tallies["column_age"].support == len(set(site.patients[:3]))
    assert tallies["column_beds"].support == 0  # constant: the sum is everybody's value


def test_a_column_that_no_site_tells_of_is_centred_on_its_range(contract):
    site = encoded(1, contract)
    site.inputs[:, 1] = float("nan")
    tallies = [tally for tally in column_sums(site, contract) if tally.name != "column_age"]
    assert [(tally.name, tally.support) for tally in tallies] == [("column_urea", 0), ("column_beds", 0)]
    mean, scale = mean_and_scale(tallies, contract)
    assert mean[:2].tolist() == [MIDDLE, MIDDLE]
    assert scale[:2].tolist() == [1, 1]


def test_a_nearly_constant_column_does_not_blow_up(contract):
    inputs = np.zeros((1000, len(input_names(contract))), dtype=np.float32)
    inputs[0, 0] = 1e-3
    _, scale = mean_and_scale(column_sums(rows_of(inputs, ["one"] * 1000), contract), contract)
    assert scale[0].item() == pytest.approx(SMALLEST_SCALE)


def parted(site, train):
    """The first `train` rows train, and the others are halved."""
    half = (train + len(site)) // 2
    cuts = {"train": (0, train), "validation": (train, half), "test": (half, len(site))}
    return {split: site.take(np.arange(*cut)) for split, cut in cuts.items()}


def test_a_sites_own_scale_is_that_of_its_training_rows(contract):
    site = encoded(1, contract)
    rows = parted(site, 100)
    expected = mean_and_scale(column_sums(rows["train"], contract), contract)
    for found, wanted in zip(own_mean_and_scale(rows, contract), expected, strict=True):
        torch.testing.assert_close(found, wanted)


def test_without_training_rows_a_sites_own_scale_is_that_of_all_its_rows(contract):
    site = encoded(1, contract)
    mean, scale = own_mean_and_scale(parted(site, 0), contract)
    numbers = site.inputs[:, :2].double().numpy()
    np.testing.assert_allclose(mean[:2], np.nanmean(numbers, axis=0), rtol=1e-6)
    np.testing.assert_allclose(scale[:2], np.nanstd(numbers, axis=0), rtol=1e-6)


def test_a_column_that_no_training_row_has_is_scaled_by_the_other_rows(contract):
    site = encoded(1, contract)
    site.inputs[:100, 1] = float("nan")
    rows = parted(site, 100)
    mean, scale = own_mean_and_scale(rows, contract)
    others = site.inputs[100:, 1].double().numpy()
    assert (mean[1].item(), scale[1].item()) == pytest.approx((np.nanmean(others), np.nanstd(others)))
    assert mean[0].item() == pytest.approx(site.inputs[:100, 0].mean().item())


def test_a_site_without_any_row_has_no_scale(contract):
    nothing = encoded(1, contract).take(np.arange(0))
    with pytest.raises(WardroundError, match="no row of this site is in any split") as raised:
        own_mean_and_scale(dict.fromkeys(("train", "validation", "test"), nothing), contract)
    assert raised.value.code is Reason.TOO_FEW_CASES
