"""With all knobs at 0 the hospitals are alike; each moves what it names and leaves the rest as it was."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2_contingency, ks_2samp

from wardround.records.reasons import WardroundError
from wardround.workloads.clinical_risk.synth.gaps import draw_gaps
from wardround.workloads.clinical_risk.synth.hospitals import ALIKE, Hospital, Knobs, choose_hospitals
from wardround.workloads.clinical_risk.synth.outcome import draw_outcomes, probabilities
from wardround.workloads.clinical_risk.synth.stays import Stays, draw_stays

ROWS = 6000
SEED = 5
NAMES = ("hospital-a", "hospital-b", "hospital-c", "hospital-d", "hospital-e")
NUMBERS = ("age", "prior_admissions", "length_of_stay", "creatinine", "hemoglobin", "sodium", "glucose", "hba1c")
CATEGORIES = ("sex", "admission_type", "heart_failure", "discharge_to", "insurance")


def hospitals(knobs: Knobs) -> dict[str, Hospital]:
    return {hospital.name: hospital for hospital in choose_hospitals(len(NAMES), seed=SEED, knobs=knobs)}


def stays_of(hospital: Hospital) -> Stays:
    return draw_stays(hospital, ROWS, SEED)


def same_columns(one: Stays, other: Stays) -> bool:
    return all(np.array_equal(one.columns[column], other.columns[column]) for column in one.columns)


@pytest.fixture(scope="module")
def alike() -> dict[str, Stays]:
    return {name: stays_of(hospital) for name, hospital in hospitals(ALIKE).items()}


@pytest.mark.parametrize("name", NAMES[1:])
def test_at_0_columns_prevalence_and_gaps_are_the_same_up_to_sampling(alike: dict[str, Stays], name: str) -> None:
    first, other = alike["hospital-a"], alike[name]
    one_each = first.places == 0, other.places == 0  # rows of one patient are not independent
    for column in NUMBERS:
        found = ks_2samp(first.columns[column][one_each[0]], other.columns[column][one_each[1]])
        assert found.pvalue > 1e-4, column
    for column in CATEGORIES:
        values = np.unique(first.columns[column])
        counts = [[np.sum(stays.columns[column][kept] == value) for value in values]
                  for stays, kept in zip((first, other), one_each, strict=True)]  # fmt: skip
        assert chi2_contingency(counts).pvalue > 1e-4, column
    settings = hospitals(ALIKE)
    rates = [draw_outcomes(settings[at], alike[at], SEED).mean() for at in ("hospital-a", name)]
    error = np.sqrt(2 * rates[0] * (1 - rates[0]) / ROWS)
    assert abs(rates[0] - rates[1]) < 5 * error
    gaps = [draw_gaps(settings[at], alike[at].columns, SEED) for at in ("hospital-a", name)]
    for column in gaps[0]:
        assert abs(gaps[0][column].mean() - gaps[1][column].mean()) < 0.03, column
    assert {hospital.coding for hospital in settings.values()} == {"contract"}


def test_covariate_shift_moves_patients_and_neither_risk_nor_gaps(alike: dict[str, Stays]) -> None:
    plain, turned = hospitals(ALIKE), hospitals(replace(ALIKE, covariate=1.0))
    moved = stays_of(turned["hospital-b"])
    assert moved.columns["age"].mean() > alike["hospital-b"].columns["age"].mean() + 4
    assert ks_2samp(moved.columns["creatinine"], alike["hospital-b"].columns["creatinine"]).pvalue < 1e-6
    same_patients = alike["hospital-b"]
    assert np.array_equal(
        probabilities(turned["hospital-b"], same_patients), probabilities(plain["hospital-b"], same_patients)
    )
    assert turned["hospital-b"].gaps == plain["hospital-b"].gaps == {"hba1c": 0, "hemoglobin": 0}


def test_prevalence_shift_moves_the_outcome_alone(alike: dict[str, Stays]) -> None:
    turned = hospitals(replace(ALIKE, prevalence=1.0))
    rates = {}
    for name in ("hospital-a", "hospital-b", "hospital-c"):
        stays = stays_of(turned[name])
        assert same_columns(stays, alike[name])
        rates[name] = draw_outcomes(turned[name], stays, SEED).mean()
    assert rates["hospital-c"] + 0.03 < rates["hospital-a"] < rates["hospital-b"] - 0.03


def test_concept_shift_moves_who_returns_and_not_how_many(alike: dict[str, Stays]) -> None:
    plain, turned = hospitals(ALIKE), hospitals(replace(ALIKE, concept=2.0))
    for name in ("hospital-b", "hospital-c"):
        stays = stays_of(turned[name])
        assert same_columns(stays, alike[name])
        before, after = probabilities(plain[name], stays), probabilities(turned[name], stays)
        assert after.mean() == pytest.approx(before.mean(), abs=1e-9)
        assert np.abs(after - before).mean() > 0.02
        assert np.corrcoef(before, after)[0, 1] < 0.98


def test_missingness_shift_moves_gaps_alone(alike: dict[str, Stays]) -> None:
    plain, turned = hospitals(ALIKE), hospitals(replace(ALIKE, missingness=1.0))
    stays = stays_of(turned["hospital-b"])
    assert same_columns(stays, alike["hospital-b"])
    before, after = (draw_gaps(of["hospital-b"], stays.columns, SEED) for of in (plain, turned))
    assert after["hba1c"].mean() > before["hba1c"].mean() + 0.2
    assert np.array_equal(after["sodium"], before["sodium"])
    assert np.array_equal(
        draw_outcomes(turned["hospital-b"], stays, SEED), draw_outcomes(plain["hospital-b"], stays, SEED)
    )


def test_a_knob_is_a_matter_of_degree() -> None:
    ages = [hospitals(replace(ALIKE, covariate=amount))["hospital-b"].age for amount in (0, 0.5, 1, 2)]
    assert ages == [0, 3.5, 7, 14]


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_a_knob_below_0_or_without_a_value_is_refused(value: float) -> None:
    with pytest.raises(WardroundError, match="concept-shift"):
        Knobs(concept=value)


def test_the_truth_can_be_learned_but_not_read_off(alike: dict[str, Stays]) -> None:
    from sklearn.metrics import roc_auc_score

    hospital = hospitals(ALIKE)["hospital-a"]
    stays = alike["hospital-a"]
    area = roc_auc_score(draw_outcomes(hospital, stays, SEED), probabilities(hospital, stays))
    assert 0.70 < area < 0.85
