"""What a site writes into a state folder that others may read is still for its own user alone."""

import logging
from datetime import date
from pathlib import Path

import pytest

from support.consents import approval
from support.fake_workload import make_study
from wardround.learners.local_state import LocalState
from wardround.records.orders import Order, Reply
from wardround.records.outbox import OutboxLine
from wardround.records.scores import CaseScore, Scores
from wardround.records.site_status import LastInspection
from wardround.site.answers import note_answer
from wardround.site.case_store import write_case_scores
from wardround.site.consent_file import ConsentFile
from wardround.site.device_hours import DeviceHours
from wardround.site.inspection_record import note_inspection
from wardround.site.outbox import write_line
from wardround.site.site_log import open_site_log
from wardround.workloads.brain_tumor import content_hash
from wardround.workloads.brain_tumor.case_cache import CaseCache


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Made by an admin before the site was, such as to be mounted into a container, with folders in it."""
    state = tmp_path / "state"
    for folder in (state, state / "consent", state / "run", state / "run" / "cases"):
        folder.mkdir()
        folder.chmod(0o755)
    return state


def test_every_file_is_its_owners(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = make_study()
    logger = logging.getLogger("wardround")
    before, logger.handlers = logger.handlers, []
    try:
        open_site_log(state)
    finally:
        for handler in logger.handlers:
            handler.close()
        logger.handlers, logger.propagate = before, True
    ConsentFile(state, study.name).add(approval(study))
    ConsentFile(state, study.name).keep_asked(study)
    DeviceHours(state).add(date(2030, 1, 7), 60)
    note_inspection(state, LastInspection("2030-01-07", "study", usable=True, counts={"train_cases": 1}, left_out=0))
    note_answer(state, "job", "train", Order(run="run"), Reply())
    case = CaseScore(case="c1", patient="p1", values={"dice_wt": 0.5})
    write_case_scores(state / "run", "best", Scores(split="test", records=[], cases=[case]))
    LocalState(state / "run", {"run": "run"})
    write_line(state, OutboxLine(time="2030-01-07T00:00:00+00:00", site="hospital-a", job="job", task="train"))
    image = state.parent / "p1.nii.gz"
    image.write_bytes(b"")
    hashes = CaseCache(state).hashes
    monkeypatch.setattr(content_hash, "_SETTLED_NS", -1)
    hashes.of(image)
    hashes.save()
    written = [file for file in state.rglob("*") if file.is_file()]
    assert len(written) >= 12
    assert [file.name for file in written if file.stat().st_mode & 0o077] == []
