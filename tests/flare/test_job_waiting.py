"""A job that does not start: each reason is told once, and one that will not go away ends the wait."""

from typing import Any

import pytest

from wardround.flare.job_waiting import Waiting, why_ended, why_not_scheduled
from wardround.records.reasons import WardroundError

NEVER = "job wants 2 GPUs, site offers 0 GPUs"
BUSY = "job wants 2 GPUs, site offers 2 GPUs with 16 GiB each and has 0 of them free now"


def _meta(*reasons: str) -> dict[str, Any]:
    return {"status": "SUBMITTED", "schedule_history": [f"2030-01-02 03:04:05: {reason}" for reason in reasons]}


def _few(ok: int, *details: str) -> str:
    named = "; ".join(f"hospital-{letter}: {text}" for letter, text in zip("abcde", details, strict=False))
    return f"not enough sites have enough resources (ok sites {ok} < min sites 3). Details: {named}"


def test_each_reason_is_told_once_in_one_line() -> None:
    told: list[str] = []
    waiting = Waiting(told.append)
    few = "connected sites (2) < min_sites (3)"
    for meta in ({}, _meta(few), _meta(few, few), _meta(few, few, _few(2, BUSY))):
        waiting.look(meta)
    assert len(told) == 2
    assert few in told[0]
    assert f"hospital-a: {BUSY}" in told[1]


def test_a_server_that_does_not_look_at_the_job_is_told_once() -> None:
    told: list[str] = []
    waiting = Waiting(told.append)
    for _ in range(100):
        waiting.look({"status": "SUBMITTED"})
    assert len(told) == 1
    assert "has not looked at the job" in told[0]


@pytest.mark.parametrize("reason", [_few(0, NEVER, NEVER, NEVER), _few(2, NEVER), _few(1, NEVER, BUSY)])
def test_too_few_sites_that_could_ever_run_it_end_the_wait_with_the_numbers(reason: str) -> None:
    with pytest.raises(WardroundError, match=r"hospital-a: job wants 2 GPUs, site offers 0 GPUs") as caught:
        Waiting(None).look(_meta(reason))
    assert "3 sites are needed" in str(caught.value)
    assert "free now" not in str(caught.value)


@pytest.mark.parametrize("reason", [_few(1, BUSY, BUSY), _few(2, NEVER, BUSY), _few(2, "")])
def test_sites_that_may_be_free_later_are_waited_for(reason: str) -> None:
    told: list[str] = []
    Waiting(told.append).look(_meta(reason))
    assert len(told) == 1


def test_what_is_told_has_no_path() -> None:
    assert why_not_scheduled(_meta("no file /srv/hospital/x.json")) == "no file <path>"
    assert why_not_scheduled(_meta("connected sites (2) < min_sites (3)", "scheduled")) is None


def test_a_job_that_ended_before_it_began_says_which_site_refused_it() -> None:
    meta = {**_meta("scheduled"), "job_deploy_detail": ["server: OK", "hospital-a: privacy scope 'open' not allowed"]}
    assert why_ended(meta) == ": hospital-a: privacy scope 'open' not allowed"
    assert why_ended(_meta("exceeded max schedule count 10")) == ": exceeded max schedule count 10"
    assert why_ended({"status": "FINISHED:COMPLETED"}) == ""
    for status in ("FINISHED:EXECUTION_EXCEPTION", "FINISHED:ABNORMAL"):
        assert "log.txt in the kits of the sites" in why_ended({"status": status})
