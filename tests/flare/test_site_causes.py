"""The cause at a site is its own exception's words, of this run alone."""

import logging
from pathlib import Path

import pytest

from wardround.flare.site_causes import SiteCauses, first_cause
from wardround.records.reasons import Reason, WardroundError
from wardround.site.config import SiteConfig
from wardround.site.site_log import open_site_log


@pytest.fixture
def config(tmp_path: Path) -> SiteConfig:
    return SiteConfig(name="hospital-a", state_folder=tmp_path / "state", data={"brain_tumor": {}})


def fail(config: SiteConfig, text: str) -> None:
    """As a site does: what happened on the way, then the failure with its traceback."""
    open_site_log(config.state_folder)
    logger = logging.getLogger("wardround.flare.executor")
    logger.info("opening: %s", text)
    try:
        try:
            raise KeyError("inner")
        except KeyError as error:
            raise WardroundError(Reason.DATA_MISSING, text) from error
    except WardroundError:
        logger.exception("prepare failed")


def test_the_first_failure_of_this_run_is_told_in_one_line(config: SiteConfig) -> None:
    fail(config, "old.csv: of another run")
    causes = SiteCauses([config])
    assert causes.lines() == []
    fail(config, "stays.csv: no such file; make it with `wardround synth`\nstays.csv: and more")
    fail(config, "later.csv: missing")
    log = config.state_folder / "site.log"
    assert causes.lines() == [
        f"hospital-a: stays.csv: no such file; make it with `wardround synth` (1 more lines in {log})"
    ]


def test_a_site_without_a_log_has_nothing_to_tell(config: SiteConfig) -> None:
    assert SiteCauses([config]).lines() == []


def test_an_error_of_another_kind_keeps_its_class_and_one_without_traceback_its_words() -> None:
    entry = "2026-01-01 12:00:00,123 ERROR wardround.x: train failed\n"
    trace = 'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\nValueError: 3 is not 4\n'
    assert first_cause(entry + trace) == "ValueError: 3 is not 4"
    assert first_cause(entry) == "train failed"
    assert first_cause(entry.replace("ERROR", "WARNING") + trace) is None
