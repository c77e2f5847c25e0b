import numpy as np
import pytest

from wardround.metrics.alerts import GRID, alert_rows, choose
from wardround.metrics.labelled_rows import labelled_rows
from wardround.records.metric_record import Status

GOALS = {"sensitivity": (0.8,), "ppv": (0.7,), "alerts_per_100": (10.0,)}


def made(n=1000, *, seed=0):
    random = np.random.default_rng(seed)
    probabilities = random.random(n)
    labels = (random.random(n) < probabilities).astype(np.uint8)
    return labelled_rows(probabilities, labels, [str(row) for row in range(n)])


def test_thresholds_reach_their_targets_with_the_fewest_alerts_or_the_most_found():
    rows = made()
    sensitivity, ppv, alerts = (one.threshold for one in choose(rows, GOALS))
    caught = [
        rows.labels[rows.probabilities >= one].sum() / rows.n_positive for one in (sensitivity, sensitivity + 0.01)
    ]
    assert caught[0] >= 0.8 > caught[1]
    right = [rows.labels[rows.probabilities >= one].mean() for one in (ppv, ppv - 0.01)]
    assert right[0] >= 0.7 > right[1]
    raised = [(rows.probabilities >= one).mean() for one in (alerts, alerts - 0.01)]
    assert raised[0] <= 0.1 < raised[1]
    assert {sensitivity, ppv, alerts} <= set(GRID.tolist())


def test_what_a_threshold_does_is_told_with_its_counts():
    rows = labelled_rows([0.1, 0.4, 0.6, 0.9] * 10, [0, 1, 0, 1] * 10, [str(row) for row in range(40)])
    chosen = choose(rows, {"sensitivity": (0.5,)})
    (line,) = alert_rows(rows, chosen, minimum_cell=5)
    values = {record.name: (record.value, record.n) for record in line.records}
    assert line.threshold == pytest.approx(0.9)
    assert values == {
        "sensitivity": (0.5, 20),
        "specificity": (1.0, 20),
        "ppv": (1.0, 10),
        "npv": (pytest.approx(2 / 3), 30),
        "alerts_per_100": (25.0, 40),
    }


def test_what_cannot_be_chosen_has_a_reason():
    few = labelled_rows([0.2, 0.8] * 9, [0, 1] * 9, [str(row) for row in range(18)])
    assert {one.reason for one in choose(few, GOALS)} == {"few_validation_patients"}
    assert {one.reason for one in choose(labelled_rows([], [], []), GOALS)} == {"few_validation_patients"}
    wrong = labelled_rows([0.2, 0.8] * 20, [1, 0] * 20, [str(row) for row in range(40)])
    (unreached,) = choose(wrong, {"ppv": (0.9,)})
    assert (unreached.threshold, unreached.reason) == (None, "target_not_reached")
    assert alert_rows(few, [unreached], minimum_cell=5)[0].records == []


def test_figures_over_few_patients_are_held_back():
    rows = labelled_rows([0.1] * 30 + [0.9] * 3, [0, 1] * 15 + [1] * 3, [str(row) for row in range(33)])
    (line,) = alert_rows(rows, choose(rows, {"ppv": (0.9,)}), minimum_cell=5)
    ppv = next(record for record in line.records if record.name == "ppv")
    assert (ppv.value, ppv.status) == (None, Status.SUPPRESSED)
