"""What comes into the results' folder while FLARE works, and at its end."""

from pathlib import Path

from flare.test_server_checkpoint import write
from wardround.flare.server_checkpoint import CheckpointWriter, load_server_checkpoint
from wardround.flare.workspace import collect_results, collect_what_a_run_goes_on_from
from wardround.records.run_lines import EndLine, append_line, read_lines
from wardround.records.server_state import FOLDER, rounds_kept


def test_checkpoints_come_with_their_files_and_go_with_the_servers(tmp_path: Path) -> None:
    run, out = tmp_path / "run", tmp_path / "out"
    writer = CheckpointWriter(run / FOLDER)
    for rounds_done in range(4):
        write(writer, rounds_done, best=5.0)
        (run / FOLDER / ".half.model-000009-00000000.safetensors").write_bytes(b"x")  # one that is being written
        collect_what_a_run_goes_on_from(run, out)
        assert load_server_checkpoint(out / FOLDER).state.rounds_done == rounds_done
    assert rounds_kept(out / FOLDER) == [2, 3]
    held = sorted(file.name for file in (run / FOLDER).iterdir() if not file.name.startswith("."))
    assert sorted(file.name for file in (out / FOLDER).iterdir()) == held


def test_a_job_that_has_no_checkpoint_yet_leaves_the_one_before(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(CheckpointWriter(out / FOLDER), 3)
    collect_results(tmp_path / "nothing", out)
    (tmp_path / "empty" / FOLDER).mkdir(parents=True)
    collect_results(tmp_path / "empty", out)
    assert load_server_checkpoint(out / FOLDER).state.rounds_done == 3


def test_a_job_that_could_not_go_on_adds_its_end_to_the_record(tmp_path: Path) -> None:
    run, out = tmp_path / "run", tmp_path / "out"
    out.mkdir()
    (run / "metrics").mkdir(parents=True)
    append_line(out / "run.jsonl", EndLine(status="failed", reasons=["before"]))
    append_line(run / "metrics" / "run.jsonl", EndLine(status="failed", reasons=["checkpoint: of run a"]))
    for _ in range(3):
        collect_what_a_run_goes_on_from(run, out)
    lines = [line for line in read_lines(out / "run.jsonl") if isinstance(line, EndLine)]
    assert [line.reasons[0] for line in lines] == ["before", "checkpoint: of run a"]
