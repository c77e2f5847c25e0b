"""Sums over too few patients stay at the site."""

from wardround.records.disclosure import Disclosure
from wardround.records.scores import Tally
from wardround.site.guarded_sums import guard_sums
from wardround.workloads.words import Words

WORDS = Words(figures=frozenset(), sums={"age|weight|height|beds|pulse": "sum"})


def _tally(name: str, patients: int | None, key: str = "sum") -> Tally:
    return Tally(name=name, counts={key: 1.0}, n=99, support=patients)


def test_a_sum_leaves_only_over_the_minimum_cell_and_the_others_are_named() -> None:
    tallies = [_tally("age", 5), _tally("weight", 4), _tally("height", 0), _tally("beds", None), _tally("pulse", 6)]
    guarded = guard_sums(tallies, Disclosure(minimum_cell=5), WORDS)
    assert [tally.name for tally in guarded.passed] == ["age", "pulse"]
    assert guarded.suppressed == ["weight", "height", "beds"]


def test_even_the_smallest_cell_holds_back_a_sum_over_nobody() -> None:
    rules = Disclosure(minimum_cell=1, minimum_patients=1)
    assert guard_sums([_tally("age", 0), _tally("pulse", 1)], rules, WORDS).suppressed == ["age"]


def test_a_sum_that_the_site_does_not_allow_is_named_too() -> None:
    guarded = guard_sums([_tally("age", 9), _tally("pulse", 9)], Disclosure(allowed=("pulse",)), WORDS)
    assert ([tally.name for tally in guarded.passed], guarded.suppressed) == (["pulse"], ["age"])


def test_a_name_that_is_no_word_of_the_study_is_not_even_told() -> None:
    guarded = guard_sums([_tally("patient_0042", 9), _tally("age", 9, key="of_0042")], Disclosure(), WORDS)
    assert (guarded.passed, guarded.suppressed, guarded.unlisted) == ([], [], ["patient_0042", "age"])
