"""A site's own record of what it answered."""

from pathlib import Path

from wardround.records.metric_record import MetricRecord, undefined
from wardround.records.orders import Order, Reply
from wardround.records.reasons import Reason
from wardround.records.site_status import LastInspection
from wardround.site.answers import note_answer, read_runs
from wardround.site.inspection_record import last_inspections, note_inspection

DICE = MetricRecord(name="dice_mean", value=0.5, n=4)


def test_runs_are_read_back_with_metrics_by_round(tmp_path: Path) -> None:
    for number, value in ((0, 0.5), (1, 0.6), (1, 0.7)):
        reply = Reply(records=[DICE.model_copy(update={"value": value}), undefined("dice_et", "empty_label")])
        note_answer(tmp_path, "job-1", "train", Order(run="first", round=number), reply)
    note_answer(tmp_path, "job-1", "validate", Order(run="first", round=2, arm="best"), Reply(records=[DICE]))
    note_answer(tmp_path, "job-2", "prepare", Order(run="second"), Reply(error=Reason.DATA_MISSING))
    runs = {run.name: run for run in read_runs(tmp_path)}
    assert [(one.round, one.metrics) for one in runs["first"].trained] == [
        (0, {"dice_mean": 0.5}),
        (1, {"dice_mean": 0.7}),
    ]
    assert (runs["first"].last.task, runs["first"].last.arm) == ("validate", "best")
    assert (runs["second"].last.error, runs["second"].trained) == ("data_missing", [])


def test_a_line_cut_short_is_left_out(tmp_path: Path) -> None:
    note_answer(tmp_path, "job", "train", Order(run="run"), Reply(records=[DICE]))
    with (tmp_path / "run" / "answers.jsonl").open("a") as stream:
        stream.write('{"time": "2030')
    (run,) = read_runs(tmp_path)
    assert len(run.answers) == 1


def test_nothing_has_run_yet(tmp_path: Path) -> None:
    assert read_runs(tmp_path / "none") == []
    assert last_inspections(tmp_path / "none") == []


def test_the_last_inspection_of_each_study_counts(tmp_path: Path) -> None:
    old = LastInspection("2030-01-01T00:00:00+00:00", "b", usable=False, counts={"train_cases": 1}, left_out=3)
    new = LastInspection("2030-01-02T00:00:00+00:00", "b", usable=True, counts={"train_cases": 4}, left_out=0)
    other = LastInspection("2030-01-01T00:00:00+00:00", "a", usable=True, counts={}, left_out=0)
    for one in (old, other, new):
        note_inspection(tmp_path, one)
    assert last_inspections(tmp_path) == [other, new]
    (tmp_path / "inspection.json").write_text("{")
    assert last_inspections(tmp_path) == []
