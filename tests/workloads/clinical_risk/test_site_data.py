from itertools import islice

import numpy as np
import polars as pl
import pytest
import torch
from torch import nn

from support.made_tables import WORKLOAD, made_frame, site_section
from wardround.records.disclosure import Disclosure
from wardround.records.inspection import Severity
from wardround.records.reasons import Reason, WardroundError
from wardround.workloads.clinical_risk.encode import input_names
from wardround.workloads.clinical_risk.workload import make


@pytest.fixture
def workload():
    return make({key: value for key, value in WORKLOAD.items() if key != "kind"})


@pytest.fixture
def opened(tmp_path, workload):
    def open_frame(frame, *, chosen=workload, minimum_cell=5, **section):
        file = tmp_path / f"{len(list(tmp_path.iterdir()))}.csv"
        frame.write_csv(file)
        rules = Disclosure(minimum_cell=minimum_cell, minimum_patients=min(minimum_cell, 3))
        return chosen.open_site(site_section(file, **section), cache=tmp_path, disclosure=rules)

    return open_frame


class Constant(nn.Module):
    def __init__(self, logit):
        super().__init__()
        self.logit = nn.Parameter(torch.tensor(logit))

    def forward(self, inputs):
        return self.logit.expand(len(inputs), 1)


class ByAge(nn.Module):
    """Ranks well, and is certain of the outcome for nearly everyone."""

    def __init__(self):
        super().__init__()
        self.slope = nn.Parameter(torch.tensor(20.0))

    def forward(self, inputs):
        return self.slope * inputs[:, :1]


def test_counts_are_by_split_and_every_row_is_in_one(opened):
    frame = made_frame(1)
    counts = opened(frame).counts
    assert sum(counts[f"{split}_cases"] for split in ("train", "validation", "test")) == len(frame)
    assert sum(counts[f"{split}_patients"] for split in ("train", "validation", "test")) == 120
    assert counts["train_patients"] == 72
    assert counts["train_positive"] > 5


def test_few_positives_are_counted_only_where_they_are_scored(opened):
    data = opened(made_frame(1, prevalence=0.02))
    assert 0 < data.rows("train").positive < 5
    assert [name for name in data.counts if name.endswith("positive")] == ["validation_positive", "test_positive"]
    assert data.counts["test_positive"] == data.rows("test").positive
    assert "train_positive" in opened(made_frame(1, prevalence=0.02), minimum_cell=1).counts


def test_labels_of_one_class_train_and_are_remarked(opened, workload):
    data = opened(made_frame(1).with_columns(readmitted=pl.lit("yes")))
    assert "train_positive" not in data.counts
    assert data.suppressed_counts == ["train_positive"]
    remark = next(remark for remark in data.findings.notes if remark.kind is Reason.ONE_CLASS)
    assert "readmitted is yes in all" in str(remark)
    inputs, targets = next(data.batches(16, torch.Generator()))
    assert torch.isfinite(workload.loss()(workload.network()(inputs), targets))
    assert workload.reference(data) is None
    assert data.recalibrate(workload.network()) is None
    record = next(record for record in data.score(workload.network(), "test").records if record.name == "auroc")
    assert record.value is None


def test_two_classes_are_no_remark(opened):
    assert Reason.ONE_CLASS not in {remark.kind for remark in opened(made_frame(1)).findings.notes}


def test_batches_hold_the_training_rows(opened):
    data = opened(made_frame(1))
    rows = data.rows("train")
    steps = data.steps_per_epoch(32)
    assert steps == -(-len(rows) // 32)
    batches = list(islice(data.batches(32, torch.Generator().manual_seed(0)), steps))
    seen = torch.cat([inputs for inputs, _ in batches])[: len(rows)].nan_to_num(-1)
    assert sorted(seen.tolist()) == sorted(rows.inputs.nan_to_num(-1).tolist())


def test_one_row_trains_through_batchnorm(opened, workload):
    data = opened(made_frame(1, patients=1).head(1))
    inputs, targets = next(data.batches(32, torch.Generator()))
    assert len(inputs) == 2
    workload.loss()(workload.network().train()(inputs), targets).backward()


def test_a_site_that_only_scores_has_unlabelled_rows_but_none_to_train_on(opened):
    data = opened(made_frame(1), split={"test_fraction": 1})
    assert not data.has_unlabelled
    count = sum(len(batch) for batch in data.unlabelled(32, torch.Generator()))
    assert count == data.counts["test_cases"] == len(made_frame(1))
    with pytest.raises(WardroundError, match="train split has no labelled row") as raised:
        next(iter(data.batches(32, torch.Generator())))
    assert raised.value.code is Reason.TOO_FEW_CASES


def test_unlabelled_rows_are_the_training_rows(opened):
    data = opened(made_frame(1))
    assert data.has_unlabelled
    assert sum(len(batch) for batch in data.unlabelled(32, torch.Generator())) == data.counts["train_cases"]


def test_only_training_rows_make_the_statistics(opened, workload):
    data = opened(made_frame(1))
    sums = {tally.name: tally for tally in data.statistics()}
    age = data.rows("train").inputs[:, input_names(workload.settings.contract).index("age")].double()
    assert sums["column_age"].n == len(age)
    assert sums["column_age"].counts["sum"] == pytest.approx(age.sum().item())
    assert 0 < sums["column_age"].support <= data.counts["train_patients"]


def test_normalised_by_site_training_rows_have_mean_0_and_no_sum_leaves(opened):
    settings = {key: value for key, value in WORKLOAD.items() if key != "kind"}
    chosen = make({**settings, "normalisation": "site"})
    data = opened(made_frame(1), chosen=chosen)
    assert data.statistics() == []
    assert chosen.initial_entries([]) == {}
    numbers = data.rows("train").inputs[:, :2].double().numpy()
    np.testing.assert_allclose(np.nanmean(numbers, axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(np.nanstd(numbers, axis=0), 1, atol=1e-5)
    assert torch.isnan(data.rows("test").inputs).any()


def test_normalised_by_site_an_outside_hospital_is_standardised_by_all_its_rows(opened):
    settings = {key: value for key, value in WORKLOAD.items() if key != "kind"}
    outside = {"test_fraction": 1}
    data = opened(made_frame(1), chosen=make({**settings, "normalisation": "site"}), split=outside)
    numbers = data.rows("test").inputs[:, :2].double().numpy()
    np.testing.assert_allclose(np.nanmean(numbers, axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(np.nanstd(numbers, axis=0), 1, atol=1e-5)
    assert "mean and scale of the inputs are of the rows that are scored" in str(data.findings.notes[-1])
    flipped = made_frame(1).with_columns(readmitted=pl.col("readmitted").replace({"yes": "no", "no": "yes"}))
    other = opened(flipped, chosen=make({**settings, "normalisation": "site"}), split=outside)
    assert torch.equal(other.rows("test").inputs.nan_to_num(-9), data.rows("test").inputs.nan_to_num(-9))
    assert Reason.TOO_FEW_CASES not in {remark.kind for remark in opened(made_frame(1), split=outside).findings.notes}


def test_scores_name_the_rows_and_stay_the_same_whatever_mode_the_network_is_in(opened, workload):
    data, network = opened(made_frame(1)), workload.network().train()
    scores = data.score(network, "test", detail=True)
    assert network.training
    assert [case.case for case in scores.cases] == list(data.rows("test").cases)
    assert scores == data.score(network.eval(), "test", detail=True)
    assert {record.name for record in scores.records} >= {*workload.metric_names(), *workload.last_metric_names()}


def test_cohorts_come_with_the_details(opened, workload):
    cohorts = opened(made_frame(1)).score(workload.network(), "test", detail=True).cohorts
    assert {cohort.name for cohort in cohorts} == {"sex", "age_band"}


def test_thresholds_are_chosen_on_validation_rows(opened, workload):
    alerts = opened(made_frame(1)).score(workload.network(), "test", detail=True).alerts
    assert {alert.goal for alert in alerts} == {"sensitivity", "ppv", "alerts_per_100"}
    assert not opened(made_frame(1)).score(workload.network(), "validation").alerts


def test_a_network_that_gives_nan_is_refused(opened):
    with pytest.raises(WardroundError, match="no finite risk for") as raised:
        opened(made_frame(1)).score(Constant(float("nan")), "test")
    assert raised.value.code is Reason.NOT_FINITE


def test_wrong_risks_are_recalibrated(opened):
    data = opened(made_frame(1, patients=400, prevalence=0.3), split={"validation_fraction": 0.4})
    certain = ByAge()
    scores = [data.score(network, "test") for network in (certain, data.recalibrate(certain))]
    before, after = (next(r.value for r in one.records if r.name == "brier") for one in scores)
    assert after < before / 2


def test_pooled_rows_are_those_of_all_sites(opened, workload):
    sites = [opened(made_frame(seed)) for seed in (1, 2)]
    pooled = workload.pool([*sites, opened(made_frame(1))])  # a third hospital with the same patient ids as the first
    assert pooled.counts["train_patients"] == 3 * 72
    assert len(pooled.rows("train")) == sum(len(site.rows("train")) for site in (*sites, sites[0]))
    tallies = [tally for site in (*sites, sites[0]) for tally in site.statistics()]
    for name, tensor in workload.initial_entries(pooled.statistics()).items():
        torch.testing.assert_close(tensor, workload.initial_entries(tallies)[name])
    with pytest.raises(WardroundError, match="score at each site"):
        pooled.score(workload.network(), "test")


def test_only_sites_of_this_workload_are_pooled(workload):
    with pytest.raises(WardroundError, match="opened by this workload"):
        workload.pool([])


def test_who_opted_out_is_left_out_of_everything_and_moves_nobody_else(tmp_path, opened):
    frame = made_frame(0)
    before = opened(frame)
    chosen = [rows.patients[0] for rows in before._rows.values()]
    gone = opened(frame.filter(~pl.col("person").cast(pl.String).is_in(chosen)))
    listed = tmp_path / "opted-out.txt"
    listed.write_text("\n".join([*chosen, "nobody"]))
    data = opened(frame, opt_out_file=str(listed))
    for split, rows in data._rows.items():
        assert rows.patients == [patient for patient in before._rows[split].patients if patient not in chosen]
    assert [(note.kind, note.count) for note in data.findings.notes if note.kind is Reason.OPTED_OUT] == [
        (Reason.OPTED_OUT, 3),
        (Reason.OPTED_OUT, 1),
    ]
    assert sum(data.counts[f"{split}_patients"] for split in data._rows) == sum(
        gone.counts[f"{split}_patients"] for split in gone._rows
    )


@pytest.mark.parametrize(
    ("written", "told"),
    [("s0e3", "the id of a row or case"), ("S0P03", "written otherwise"), ("s0p3;", "as in a table")],
)
def test_a_list_that_would_leave_nobody_out_though_it_means_somebody_lets_nothing_be_used(
    tmp_path, opened, written, told
):
    listed = tmp_path / "opted-out.txt"
    listed.write_text(f"s0p1\n{written}\n")
    with pytest.raises(WardroundError, match=told) as caught:
        opened(made_frame(0), opt_out_file=str(listed))
    assert "line 2" in str(caught.value)


def test_a_list_of_patients_needs_a_column_of_patients(tmp_path, opened):
    listed = tmp_path / "opted-out.txt"
    listed.write_text("3\n")  # which is also the number of a row
    with pytest.raises(WardroundError, match="at patient in"):
        opened(made_frame(0), opt_out_file=str(listed), patient=None, row_id=None)


@pytest.mark.parametrize("row_id", ["stay", None])
def test_an_id_of_the_list_is_no_number_of_a_row(tmp_path, opened, row_id):
    listed = tmp_path / "opted-out.txt"
    listed.write_text("s0p1\n3\n")
    data = opened(made_frame(0), opt_out_file=str(listed), row_id=row_id)
    assert [note.count for note in data.findings.notes if note.kind is Reason.OPTED_OUT] == [1, 1]


@pytest.mark.parametrize("absent", ["readmitted", "day"])
def test_who_is_in_no_split_for_another_reason_moves_nobody_by_opting_out(tmp_path, opened, absent):
    frame = made_frame(0, patients=21)
    never = [f"s0p{number}" for number in range(6)]
    frame = frame.with_columns(pl.when(~pl.col("person").is_in(never)).then(pl.col(absent)).alias(absent))
    listed = tmp_path / "opted-out.txt"
    listed.write_text("\n".join(never))
    before, data = opened(frame), opened(frame, opt_out_file=str(listed))
    assert {split: rows.patients for split, rows in data._rows.items()} == {
        split: rows.patients for split, rows in before._rows.items()
    }
    assert not data.findings.count_by_kind(Severity.WARNING)  # what is wrong with their rows is not told


def test_sums_that_leave_hold_nobody_who_opted_out(tmp_path, opened):
    frame = made_frame(0)
    trained = opened(frame)._rows["train"].patients[0]
    listed = tmp_path / "opted-out.txt"
    listed.write_text(trained)
    with_all, without = opened(frame), opened(frame, opt_out_file=str(listed))
    rows = with_all._rows["train"].patients.count(trained)
    assert {one.name: one.n for one in without.sums()} != {one.name: one.n for one in with_all.sums()}
    assert without.counts["train_cases"] == with_all.counts["train_cases"] - rows


def test_its_cases_are_known_again_by_patient_row_and_split(opened):
    frame = made_frame(1)
    known = opened(frame).cases_sha256
    assert opened(frame.reverse()).cases_sha256 == known
    first = pl.col("person") == frame["person"][0]
    other = frame.with_columns(pl.when(first).then(pl.lit("another")).otherwise("person").alias("person"))
    found = [opened(one).cases_sha256 for one in (other, frame.head(-1), frame.with_columns(pl.col("stay") + "b"))]
    found.append(opened(frame, split={"seed": 7}).cases_sha256)
    assert len({known, *found}) == 5
