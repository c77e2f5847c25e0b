import numpy as np
import pytest

from wardround.metrics.labelled_rows import LabelledRows, labelled_rows
from wardround.metrics.score_bins import BINS, bin_of, is_edge, probability_at, read_cells, score_bins


def _rows(size: int, prevalence: float = 0.3, seed: int = 0, rows_per_patient: int = 1) -> LabelledRows:
    generator = np.random.default_rng(seed)
    labels = (generator.random(size) < prevalence).astype(int)
    logits = generator.normal(-1 + 1.5 * labels, 1.0)
    patients = [f"p{row // rows_per_patient}" for row in range(size)]
    return labelled_rows(1 / (1 + np.exp(-logits)), labels, patients)


@pytest.mark.parametrize("minimum", [1, 5, 20])
def test_every_cell_holds_the_minimum_of_patients_and_every_row_is_in_one(minimum: int) -> None:
    rows = _rows(900, rows_per_patient=3)
    tally = score_bins(rows, minimum_cell=minimum)
    assert tally is not None
    for label, name in enumerate(("negative", "positive")):
        cells = read_cells(tally, name)
        own = rows.labels == label
        assert cells.count.sum() == own.sum()
        assert cells.sum.sum() == pytest.approx(rows.probabilities[own].sum())
        assert (cells.low[1:] >= cells.high[:-1]).all()
        bins = bin_of(rows.probabilities[own])
        for low, high, count in zip(cells.low, cells.high, cells.count, strict=True):
            inside = (bins >= low) & (bins < high)
            assert inside.sum() == count
            assert np.unique(rows.patients[own][inside]).size >= minimum


def test_a_cell_is_as_fine_as_the_minimum_allows() -> None:
    cells = read_cells(score_bins(_rows(900), minimum_cell=1), "negative")
    assert ((cells.high - cells.low) == 1).all()
    coarse = read_cells(score_bins(_rows(900), minimum_cell=20), "negative")
    assert coarse.count.size >= 12  # of at most 31: a small tail leaves its neighbours alone
    assert coarse.count.min() >= 20


def test_edges_that_come_first_are_set_where_both_classes_allow_it() -> None:
    rows = _rows(900)
    wanted = [401, 467, 530]
    assert not any(is_edge(score_bins(rows, minimum_cell=5), edge) for edge in wanted)
    tally = score_bins(rows, minimum_cell=5, first=wanted)
    assert all(is_edge(tally, edge) for edge in wanted)
    assert sum(read_cells(tally, name).count.sum() for name in ("negative", "positive")) == 900
    tail = int(bin_of(rows.probabilities[rows.labels == 1])[2])  # two positive patients lie below
    assert not is_edge(score_bins(rows, minimum_cell=5, first=[tail]), tail)
    assert score_bins(rows, minimum_cell=5, first=[512]) == score_bins(rows, minimum_cell=5)


@pytest.mark.parametrize("first", [(), (403, 431, 600)])
@pytest.mark.parametrize("size", [40, 300])
@pytest.mark.parametrize("seed", range(5))
def test_the_lowest_and_highest_patient_may_be_anywhere_in_an_eighth(size: int, seed: int, first: tuple[int]) -> None:
    """Cells are the same wherever the first or last patient of a class lies up to the next one, or to an eighth's edge
    where that is closer; eighths close to such a threshold are none."""
    edges = [0, *range(128, BINS, 128), BINS]
    if first:
        edges = [0, 128, 256, 403, 600, 768, 896, BINS]
    rows = _rows(size, prevalence=0.5, seed=seed)
    for label in (0, 1):
        own = np.flatnonzero(rows.labels == label)
        bins = bin_of(rows.probabilities[own])
        for row, first_bin, last_bin in ((own[0], 0, bins[1]), (own[-1], bins[-2], BINS)):
            place = np.searchsorted(edges, bin_of(rows.probabilities[[row]])[0], side="right")
            reached = max(edges[place - 1], first_bin), min(edges[place] - 1, last_bin)
            found = [_cells_with(rows, row, int(bin_), first) for bin_ in (*reached, sum(reached) // 2)]
            assert found[0] == found[1] == found[2]


def _cells_with(rows: LabelledRows, moved: int, to: int, first: tuple[int]) -> dict[str, float]:
    """Counts without sums, with one row in another bin."""
    probabilities = rows.probabilities.copy()
    probabilities[moved] = (probability_at(to) + probability_at(to + 1)) / 2
    tally = score_bins(labelled_rows(probabilities, rows.labels), minimum_cell=5, first=first)
    assert tally is not None
    return {key: count for key, count in tally.counts.items() if "sum" not in key}


def test_many_thresholds_do_not_close_in_on_the_lowest_patient() -> None:
    rows = _rows(60, prevalence=0.5)
    lowest = int(bin_of(rows.probabilities[rows.labels == 1])[0])
    tally = score_bins(rows, minimum_cell=5, first=range(lowest - 100, lowest + 100, 5))
    low = read_cells(tally, "positive").low[0]
    assert lowest - 100 <= low < lowest - 95  # only the first one tells that nobody lies below it
    assert not any(is_edge(tally, edge) for edge in range(low + 1, lowest + 1))


def test_where_an_eighth_is_not_set_no_threshold_close_to_it_is() -> None:
    """It would tell where the three patients between the two are."""
    bins = np.repeat([400, 510, 700], [20, 3, 20])
    rows = labelled_rows([probability_at(bin_) * 1.0001 for bin_ in bins] * 2, np.repeat([0, 1], bins.size))
    tally = score_bins(rows, minimum_cell=5, first=[384, 509])
    assert [is_edge(tally, edge) for edge in (384, 509, 512)] == [True, False, True]


@pytest.mark.parametrize("edge", [1, 200, 512, 513, 1023])
def test_a_probability_at_an_edge_is_the_lowest_of_its_bin(edge: int) -> None:
    at = probability_at(edge)
    assert bin_of(np.array([at * (1 - 1e-9), at * (1 + 1e-12)])).tolist() == [edge - 1, edge]


def test_a_patient_with_many_rows_fills_no_cell_alone() -> None:
    rows = labelled_rows([0.2] * 30 + [0.7] * 30, [0] * 30 + [1] * 30, ["a"] * 30 + [f"b{i}" for i in range(30)])
    assert score_bins(rows, minimum_cell=2) is None
    assert score_bins(rows, minimum_cell=1) is not None


def test_a_class_of_fewer_patients_than_the_minimum_is_not_told() -> None:
    assert score_bins(labelled_rows([0.1] * 20 + [0.9] * 4, [0] * 20 + [1] * 4), minimum_cell=5) is None
    one_class = score_bins(labelled_rows([0.1] * 20, [0] * 20), minimum_cell=5)
    assert one_class is not None
    assert one_class.n == 20
    assert score_bins(labelled_rows([], []), minimum_cell=5) is None


def test_the_outermost_bins_are_open() -> None:
    assert bin_of(np.array([0.0, 1e-12, 0.5, 1 - 1e-12, 1.0])).tolist() == [0, 0, BINS // 2, BINS - 1, BINS - 1]


@pytest.mark.parametrize("key", [f"positive_0_{BINS + 1}", "positive_4_4", "positive_-1_4", "other_0_4"])
def test_a_cell_outside_the_tree_is_refused(key: str) -> None:
    tally = score_bins(_rows(50), minimum_cell=5)
    assert tally is not None
    with pytest.raises(ValueError, match="no cell"):
        read_cells(tally.model_copy(update={"counts": {key: 5.0}}), "positive")
