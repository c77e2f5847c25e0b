"""A record followed through FLARE's show_stats: every line once, in order, whatever was missed. FLARE's own errors
are told in one line."""

import logging
from pathlib import Path
from typing import Any

import pytest
from nvflare.fuel.flare_api.api_spec import JobNotRunning

from support.fake_workload import make_study
from wardround.flare import session
from wardround.flare.follower import Follower
from wardround.flare.session import run_through_session
from wardround.records.reasons import Reason, WardroundError
from wardround.records.run_lines import EndLine, RoundLine, RunLine


def _lines(count: int) -> list[RunLine]:
    rounds = [RoundLine(round=i, rounds=count, expected=[], contributed=[]) for i in range(count - 1)]
    return [*rounds, EndLine(status="complete")]


def _stats(lines: list[RunLine], recent: int) -> dict[str, object]:
    texts = [line.model_dump_json() for line in lines[-recent:]]
    return {"server": {"stats": {"RoundController": {"line_count": len(lines), "recent_lines": texts}, "other": 3}}}


def test_each_line_is_handed_over_once_from_overlapping_looks() -> None:
    lines, seen = _lines(6), []
    follower = Follower(seen.append)
    for count in (1, 1, 3, 4):
        follower.look(_stats(lines[:count], recent=3))
    follower.rest(lines)
    assert seen == lines


def test_lines_that_were_missed_come_in_order_with_the_result() -> None:
    lines, seen = _lines(6), []
    follower = Follower(seen.append)
    follower.look(_stats(lines[:5], recent=2))  # three are gone already
    assert seen == []
    follower.rest(lines)
    assert seen == lines


def test_an_answer_without_ours_is_no_harm() -> None:
    follower = Follower(lambda _line: 1 / 0)
    follower.look({"server": {}})
    follower.look("not running")


class FakeSession:
    """FLARE's session, with one call that fails."""

    def __init__(self, broken: str, *, times: int = 10**6) -> None:
        self.broken, self.times = broken, times
        self.looks = 0
        self.aborted: list[str] = []

    def _maybe_fail(self, call: str) -> None:
        if call == self.broken and self.times > 0:
            self.times -= 1
            raise RuntimeError(f"{call}: no connection, see /srv/consortium/admin/log.txt")

    def submit_job(self, _folder: str) -> str:
        self._maybe_fail("submit_job")
        return "job-1"

    def get_job_meta(self, _job: str) -> dict[str, str]:
        self.looks += 1
        logging.getLogger("CoreCell").warning("no connection to server")
        self._maybe_fail("get_job_meta")
        return {"status": "FINISHED:COMPLETED"}

    def download_job_result(self, _job: str, folder: str) -> str:
        self._maybe_fail("download_job_result")
        return folder

    def abort_job(self, job: str) -> None:
        self.aborted.append(job)

    def close(self) -> None:
        raise RuntimeError("closed already")


def _follow(
    monkeypatch: pytest.MonkeyPatch, out: Path, fake: FakeSession, code: Reason | None = Reason.FLARE_FAILED
) -> WardroundError:
    monkeypatch.setattr(session, "open_session", lambda _kit, **_options: fake)
    monkeypatch.setattr(session, "_POLL_SECONDS", 0)
    monkeypatch.setattr(session.StudyRecipe, "export", lambda *_: None)
    options: dict[str, Any] = {"sites": [], "run_name": "run", "environment": "prod", "on_line": lambda _line: None}
    with pytest.raises(WardroundError) as caught:
        run_through_session(make_study(), out, out=out, **options)
    assert code is None or caught.value.code == code
    return caught.value


@pytest.mark.parametrize("call", ["submit_job", "get_job_meta", "download_job_result"])
def test_flares_errors_are_one_line_without_a_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, call: str) -> None:
    fake = FakeSession(call)
    told = str(_follow(monkeypatch, tmp_path, fake))
    assert "FLARE did not " in told
    assert "no connection, see <path>" in told
    assert fake.aborted == (["job-1"] if call == "get_job_meta" else [])


@pytest.mark.parametrize(("call", "aborted"), [("download_job_result", []), ("get_job_meta", ["job-1"])])
def test_a_job_that_no_site_takes_ends_with_each_sites_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, call: str, aborted: list[str]
) -> None:
    refused = ["hospital-a: job wants 2 GPUs, site offers 0 GPUs", "hospital-b: job wants 2 GPUs, site offers 1 GPU"]
    never = f"not enough sites have enough resources (ok sites 0 < min sites 2). Details: {'; '.join(refused)}"
    status = {"get_job_meta": "SUBMITTED", "download_job_result": "FINISHED:CAN'T_SCHEDULE"}[call]
    fake = FakeSession(call, times=int(call == "download_job_result"))
    fake.get_job_meta = lambda _job: {"status": status, "schedule_history": [never]}  # type: ignore[method-assign,return-value,assignment]
    told = _follow(monkeypatch, tmp_path, fake, code=None)
    assert all(text in str(told) for text in refused)
    assert fake.aborted == aborted


def test_a_reason_that_comes_after_the_status_is_waited_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    detail = {"job_deploy_detail": ["hospital-a: OK", "hospital-b: privacy scope 'open' is not allowed"]}
    answers = iter([{}, detail])
    fake = FakeSession("download_job_result")
    fake.get_job_meta = lambda _job: {"status": "FINISHED:FAILED_TO_RUN", **next(answers)}  # type: ignore[method-assign,return-value,assignment,dict-item]
    assert "hospital-b: privacy scope 'open' is not allowed" in str(_follow(monkeypatch, tmp_path, fake, code=None))


def test_a_server_that_goes_away_for_good_is_told_once_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    class Dying(FakeSession):
        def get_job_meta(self, job: str) -> dict[str, str]:
            return super().get_job_meta(job) if self.looks else self._running()

        def _running(self) -> dict[str, str]:
            self.looks += 1
            return {"status": "RUNNING"}

    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    told = str(_follow(monkeypatch, tmp_path, Dying("get_job_meta")))
    assert "60 times in a row" in told
    assert "nvflare job download" in told
    assert "began, and was not followed to its end" in (tmp_path / "flare.log").read_text()  # so it is a failed run
    assert "no connection" not in capfd.readouterr().err


def test_a_job_that_the_server_lists_and_does_not_run_is_given_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """So it is for ever after a server has died and was started again."""

    class Lost(FakeSession):
        def get_job_meta(self, job: str) -> dict[str, str]:
            self.looks += 1
            return {"status": "RUNNING"}

        def show_stats(self, job: str, target: str) -> None:
            if self.looks > 3:
                raise JobNotRunning(job)
            raise RuntimeError("busy")  # which says nothing about the job

    monkeypatch.setattr(session, "_LOST_SECONDS", 0.01)
    fake = Lost("nothing")
    told = str(_follow(monkeypatch, tmp_path, fake))
    assert told.startswith("the server lists job job-1 as running and does not run it")
    assert "job-1/checkpoint" in told
    assert fake.looks > 4


def test_a_server_that_comes_back_is_followed_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake = FakeSession("get_job_meta", times=3)
    assert "ended the job before it began: FINISHED:COMPLETED" in str(_follow(monkeypatch, tmp_path, fake))
    assert fake.looks == 4
