from pathlib import Path

import pytest

from wardround.flare.failure import cause_of, mask_paths


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        (
            "UnsafeComponentError: Component 'shutil.rmtree' at config path 'executors.[1]' is not in allow_list",
            "Component 'shutil.rmtree' at config path 'executors.[1]' is not in allow_list",
        ),
        ("ConfigError: no workflows in /tmp/x y/app", "no workflows in <path>"),
        ("OSError: [Errno 98] Address already in use", "Address already in use"),
        ("job 1-2: FINISHED:CAN'T_SCHEDULE: no site", "FINISHED:CAN'T_SCHEDULE: no site"),
        (
            "Failing job 1-2 due to reported failure from hospital-b: exception\njob 1-2: FINISHED:EXECUTION_EXCEPTION",
            "the job's process at hospital-b failed or was ended",
        ),
        ("job 1-2: FINISHED:COMPLETED", None),
        ("nothing of note", None),
    ],
)
def test_the_cause_is_one_line_without_a_path(tmp_path: Path, line: str, cause: str | None) -> None:
    (tmp_path / "log").write_text(f"2026 - INFO - start\n{line}\n2026 - INFO - end\n")
    assert cause_of(tmp_path / "log") == cause


def test_a_missing_log_is_no_error(tmp_path: Path) -> None:
    assert cause_of(tmp_path / "log") is None


@pytest.mark.parametrize(
    "text", ["/data/p-1/t1.nii.gz", "C:\\data\\p-1", "~/p-1/x", "/data/Ann Smith/t1 pre.nii", "C:\\Ann Smith\\t1"]
)
def test_paths_are_masked_and_other_words_are_not(text: str) -> None:
    assert mask_paths(f"read '{text}' at 3/4 of and/or") == "read '<path>' at 3/4 of and/or"
    assert mask_paths(f'read "{text}": Errno 2') == 'read "<path>": Errno 2'


def test_a_path_with_spaces_and_no_quotes_is_masked_up_to_its_last_separator() -> None:
    assert mask_paths("cannot read /data/Ann Mary Smith/case 1/t1.nii.gz: truncated") == "cannot read <path>: truncated"
    assert mask_paths("no file /data/x, see /log/y now") == "no file <path>, see <path> now"
