"""Scores by case stay in the site's folder and come back as they were."""

from pathlib import Path

import pytest

from wardround.records.reasons import Reason, WardroundError
from wardround.records.scores import CaseScore, Scores
from wardround.site.case_store import read_case_scores, write_case_scores

CASES = [
    CaseScore(case="c1", patient="p1", values={"dice_wt": 0.5, "dice_et": None}),
    CaseScore(case="c2", patient="p1", values={"dice_wt": 0.7}),
]


def test_they_come_back_by_arm_and_split(tmp_path: Path) -> None:
    file = write_case_scores(tmp_path / "run", "alone:hospital-a", Scores(split="test", records=[], cases=CASES))
    assert file == tmp_path / "run" / "cases" / "alone-hospital-a.test.json"
    assert [one.stat().st_mode & 0o077 for one in (file, file.parent, file.parent.parent)] == [0, 0, 0]
    write_case_scores(tmp_path / "run", "best", Scores(split="test", records=[], cases=CASES[:1]))
    assert read_case_scores(tmp_path / "run", "alone:hospital-a", "test") == CASES
    assert read_case_scores(tmp_path / "run", "best", "test") == CASES[:1]


def test_an_arm_that_was_not_scored_and_a_broken_file_are_told(tmp_path: Path) -> None:
    with pytest.raises(WardroundError, match="pooled was not scored on test") as caught:
        read_case_scores(tmp_path, "pooled", "test")
    assert caught.value.code is Reason.METRICS_MISSING
    file = write_case_scores(tmp_path, "pooled", Scores(split="test", records=[], cases=CASES))
    file.write_bytes(file.read_bytes()[:20])
    with pytest.raises(WardroundError, match="not a list of case scores") as caught:
        read_case_scores(tmp_path, "pooled", "test")
    assert caught.value.code is Reason.DATA_UNREADABLE
