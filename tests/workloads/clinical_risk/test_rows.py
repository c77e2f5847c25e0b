from itertools import islice

import numpy as np
import pytest
import torch

from wardround.workloads.clinical_risk.rows import Rows, one_pass, training_batches


def made_rows(count):
    inputs = torch.arange(count, dtype=torch.float32)[:, None].repeat(1, 2)
    names = [str(place) for place in range(count)]
    return Rows(inputs, (inputs[:, :1] % 2), names, names, {"part": names})


def seeded():
    return torch.Generator().manual_seed(0)


def test_every_row_is_visited_once_an_epoch_in_full_batches():
    batches = list(islice(training_batches(made_rows(10), 4, seeded()), 5))
    assert [len(inputs) for inputs, _ in batches] == [4] * 5
    order = torch.cat([inputs[:, 0] for inputs, _ in batches]).tolist()
    assert sorted(order[:10]) == sorted(order[10:]) == list(range(10))
    assert order[:10] != order[10:]
    assert all(torch.equal(targets, inputs[:, :1] % 2) for inputs, targets in batches)


def test_the_same_seed_gives_the_same_batches():
    one, other = ([inputs for inputs, _ in islice(training_batches(made_rows(9), 4, seeded()), 6)] for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def test_a_small_site_gives_batches_of_all_its_rows():
    batches = list(islice(training_batches(made_rows(3), 128, seeded()), 4))
    assert all(sorted(inputs[:, 0].tolist()) == [0, 1, 2] for inputs, _ in batches)


@pytest.mark.parametrize(("rows", "batch_size"), [(1, 8), (5, 1)])
def test_a_batch_has_rows_enough_for_batchnorm(rows, batch_size):
    batches = list(islice(training_batches(made_rows(rows), batch_size, seeded(), fewest=2), 3))
    assert [len(inputs) for inputs, _ in batches] == [2, 2, 2]


@pytest.mark.parametrize(("rows", "sizes"), [(129, [65, 64]), (128, [128]), (3, [3]), (1, [2])])
def test_a_pass_has_batches_of_nearly_equal_size(rows, sizes):
    batches = list(one_pass(made_rows(rows).inputs, 128, seeded(), fewest=2))
    assert [len(batch) for batch in batches] == sizes
    assert set(torch.cat(batches)[:, 0].tolist()) == set(range(rows))


def test_chosen_rows_keep_what_belongs_together():
    chosen = made_rows(6).take(np.array([4, 1]))
    assert chosen.inputs[:, 0].tolist() == [4, 1]
    assert (chosen.patients, chosen.cases, chosen.cohorts) == (["4", "1"], ["4", "1"], {"part": ["4", "1"]})
    assert (len(chosen), chosen.positive) == (2, 1)
