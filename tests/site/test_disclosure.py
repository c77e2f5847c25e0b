"""Sums over too few patients stay at the site."""

from wardround.records.disclosure import Disclosure
from wardround.records.scores import Tally
from wardround.site.disclosure import guard_sums


def _tally(name: str, patients: int | None) -> Tally:
    return Tally(name=name, counts={"sum": 1.0}, n=99, support=patients)


def test_a_sum_leaves_only_over_the_minimum_cell_and_the_others_are_named() -> None:
    tallies = [_tally("age", 5), _tally("weight", 4), _tally("height", 0), _tally("beds", None), _tally("pulse", 6)]
    guarded = guard_sums(tallies, Disclosure(minimum_cell=5))
    assert [tally.name for tally in guarded.passed] == ["age", "pulse"]
    assert guarded.suppressed == ["weight", "height", "beds"]


def test_even_the_smallest_cell_holds_back_a_sum_over_nobody() -> None:
    assert guard_sums([_tally("age", 0), _tally("pulse", 1)], Disclosure(minimum_cell=1)).suppressed == ["age"]
