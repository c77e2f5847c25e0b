import numpy as np
import pytest
from scipy.stats import binomtest

from wardround.metrics.alerts import ChosenThreshold, alert_rows, choose, wilson_interval
from wardround.metrics.labelled_rows import labelled_rows
from wardround.metrics.score_bins import CLASSES, bin_of, probability_at, read_cells, score_bins
from wardround.records.metric_record import Status

GOALS = {"sensitivity": (0.8,), "ppv": (0.7,), "alerts_per_100": (10.0,)}


def made(n=1000, *, seed=0):
    random = np.random.default_rng(seed)
    probabilities = random.random(n)
    labels = (random.random(n) < probabilities).astype(np.uint8)
    return labelled_rows(probabilities, labels, [str(row) for row in range(n)])


def in_cells(*, tp, fp, fn, tn):
    """A row each of another patient: risks of 0.9 are alerted at 0.5, those of 0.1 are not."""
    counts = (tp, fp, fn, tn)
    probabilities = np.repeat([0.9, 0.9, 0.1, 0.1], counts)
    return labelled_rows(probabilities, np.repeat([1, 0, 1, 0], counts), [str(row) for row in range(sum(counts))])


def at(*probabilities):
    return [ChosenThreshold("ppv", 0.5, int(edge)) for edge in bin_of(np.array(probabilities))]


def lines_of(rows, thresholds, *, minimum_cell=5):
    """The lines that leave with the cells of the same rows."""
    edges = [one.edge for one in thresholds if one.edge is not None]
    return alert_rows(rows, thresholds, cells=score_bins(rows, minimum_cell=minimum_cell, first=edges))


def is_told(line):
    held = {record.status is Status.SUPPRESSED for record in line.records}
    assert len(held) == 1
    if held == {True}:
        assert {(one.value, one.n, one.n_positive, one.interval) for one in line.records} == {(None, 0, None, None)}
    return held == {False}


def test_thresholds_reach_their_targets_with_the_fewest_alerts_or_the_most_found():
    rows = made()
    sensitivity, ppv, alerts = choose(rows, GOALS)

    def alerted(edge):
        return rows.probabilities >= probability_at(edge)

    assert sensitivity.threshold == probability_at(sensitivity.edge)
    caught = [rows.labels[alerted(sensitivity.edge + step)].sum() / rows.n_positive for step in (0, 1)]
    assert caught[0] >= 0.8 > caught[1]
    right = [rows.labels[alerted(ppv.edge - step)].mean() for step in (0, 1)]
    assert right[0] >= 0.7 > right[1]
    raised = [alerted(alerts.edge - step).mean() for step in (0, 1)]
    assert raised[0] <= 0.1 < raised[1]


def test_a_rare_outcome_gets_a_threshold_for_each_goal():
    random = np.random.default_rng(3)
    risks = np.clip(0.003 * np.exp(random.normal(-0.5, 1, 20_000)), 0, 1)
    labels = (random.random(20_000) < risks).astype(np.uint8)
    assert labels.mean() < 0.004
    chosen = choose(labelled_rows(risks, labels), {"sensitivity": (0.8,), "ppv": (0.01,), "alerts_per_100": (5.0,)})
    sensitivity, ppv, alerts = (one.threshold for one in chosen)
    assert 0 < sensitivity < alerts < 0.05
    assert 0 < ppv < 0.05
    assert (risks >= alerts).mean() == pytest.approx(0.05, abs=0.005)


def test_what_a_threshold_does_is_told_with_its_counts():
    rows = labelled_rows([0.1, 0.4, 0.6, 0.9] * 10, [0, 1, 0, 1] * 10, [str(row) for row in range(40)])
    chosen = choose(rows, {"sensitivity": (0.5,)})
    (line,) = lines_of(rows, chosen)
    values = {record.name: (record.value, record.n, record.n_positive) for record in line.records}
    assert 0.6 < line.threshold <= 0.9
    assert values == {
        "sensitivity": (0.5, 20, 10),
        "specificity": (1.0, 20, 20),
        "ppv": (1.0, 10, 10),
        "npv": (pytest.approx(2 / 3), 30, 20),
        "alerts_per_100": (25.0, 40, 10),
    }
    share = binomtest(10, 40).proportion_ci(method="wilson")
    assert line.records[-1].interval == pytest.approx((100 * share.low, 100 * share.high))


@pytest.mark.parametrize(("counted", "n"), [(0, 7), (7, 7), (3, 40), (399, 400)])
def test_the_interval_is_wilsons(counted, n):
    low, high = wilson_interval(counted / n, n)
    known = binomtest(counted, n).proportion_ci(method="wilson")
    assert (low, high) == pytest.approx((known.low, known.high), abs=1e-12)
    assert low <= counted / n <= high


def test_support_and_intervals_count_patients_and_not_their_rows():
    rows = in_cells(tp=6, fp=6, fn=6, tn=60)
    many = labelled_rows(
        np.repeat(rows.probabilities, 5), np.repeat(rows.labels, 5), [str(row // 5) for row in range(5 * rows.n)]
    )
    (once,), (five_times,) = (lines_of(each, at(0.5)) for each in (rows, many))
    for one, five in zip(once.records, five_times.records, strict=True):
        assert (five.value, five.n, five.status) == (one.value, 5 * one.n, one.status)
        assert five.interval == pytest.approx(one.interval)
    (few,) = lines_of(in_cells(tp=7, fp=0, fn=0, tn=60), at(0.5))
    assert (few.records[0].status, few.records[0].reason) == (Status.LOW_SUPPORT, "fewer_than_10_patients")


def test_what_cannot_be_chosen_has_a_reason():
    few = labelled_rows([0.2, 0.8] * 9, [0, 1] * 9, [str(row) for row in range(18)])
    assert {one.reason for one in choose(few, GOALS)} == {"few_validation_patients"}
    assert {one.reason for one in choose(labelled_rows([], [], []), GOALS)} == {"few_validation_patients"}
    wrong = labelled_rows([0.2, 0.8] * 20, [1, 0] * 20, [str(row) for row in range(40)])
    (unreached,) = choose(wrong, {"ppv": (0.9,)})
    assert (unreached.threshold, unreached.reason) == (None, "target_not_reached")
    assert lines_of(few, [unreached])[0].records == []
    (empty,) = lines_of(labelled_rows([], [], []), at(0.5))
    assert {record.reason for record in empty.records} == {"no_cases"}


@pytest.mark.parametrize("cell", ["tp", "fp", "fn", "tn"])
@pytest.mark.parametrize(("patients", "told"), [(0, True), (1, False), (4, False), (5, True)])
def test_a_line_is_held_back_whole_where_a_cell_has_few_patients(cell, patients, told):
    rows = in_cells(**{**dict.fromkeys(("tp", "fp", "fn", "tn"), 20), cell: patients})
    (line,) = lines_of(rows, at(0.5))
    assert is_told(line) == told
    assert line.threshold == pytest.approx(0.5)


def test_three_patients_below_a_threshold_do_not_follow_from_the_other_figures():
    (line,) = lines_of(in_cells(tp=20, fp=17, fn=0, tn=3), at(0.5))
    assert not is_told(line)


def test_rows_of_one_patient_are_one_patient():
    rows = labelled_rows([0.9] * 12 + [0.1] * 20, [1] * 12 + [0] * 20, ["a"] * 12 + [str(row) for row in range(20)])
    assert not is_told(lines_of(rows, at(0.5))[0])


def test_lines_tell_no_more_than_the_cells():
    """Whatever is subtracted from whatever, nobody's group is of one to four patients."""
    random = np.random.default_rng(5)
    held = 0
    for seed in range(20):
        rows = made(int(random.integers(30, 300)), seed=seed)
        thresholds = at(*random.random(4))
        cells = score_bins(rows, minimum_cell=5, first=[one.edge for one in thresholds])
        lines = alert_rows(rows, thresholds, cells=cells)
        known = {name: {(0, 0)} for name in CLASSES}  # how many of each class lie below an edge
        for name in CLASSES:
            cell = read_cells(cells, name)
            below = np.concatenate([[0], np.cumsum(cell.count)])
            known[name] |= set(zip(cell.low.tolist(), below[:-1].tolist(), strict=True))
            known[name] |= set(zip(cell.high.tolist(), below[1:].tolist(), strict=True))
        for chosen, line in zip(thresholds, lines, strict=True):
            held += not is_told(line)
            if is_told(line):
                record = {record.name: record for record in line.records}
                known["positive"].add((chosen.edge, record["sensitivity"].n - record["sensitivity"].n_positive))
                known["negative"].add((chosen.edge, record["specificity"].n_positive))
        for counts in known.values():
            steps = np.diff(sorted(count for _, count in counts))
            assert not ((steps > 0) & (steps < 5)).any()
    assert 0 < held < 40


def test_cells_are_made_so_that_the_thresholds_can_be_told():
    rows = made(400)
    thresholds = at(0.31, 0.57, 0.83)
    assert all(is_told(line) for line in lines_of(rows, thresholds))
    unaware = alert_rows(rows, thresholds, cells=score_bins(rows, minimum_cell=5))
    assert not any(is_told(line) for line in unaware)


def test_two_lines_do_not_tell_of_the_few_patients_between_their_thresholds():
    probabilities = np.concatenate([np.full(30, 0.1), np.full(3, 0.55), np.full(30, 0.9)])
    labels = np.concatenate([[0, 1] * 15, [1, 1, 1], [0, 1] * 15])
    rows = labelled_rows(probabilities, labels, [str(row) for row in range(63)])
    first, close, same = lines_of(rows, at(0.5, 0.6, 0.5))
    assert [is_told(line) for line in (first, close, same)] == [True, False, True]
