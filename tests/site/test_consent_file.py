import errno
import os
import subprocess
import sys

import pytest

from support.consents import approval, revocation
from support.fake_workload import make_study
from wardround.records.reasons import WardroundError
from wardround.site.consent_file import ConsentFile, consents


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def file(study, tmp_path):
    return ConsentFile(tmp_path, study.name)


def test_of_decisions_that_two_processes_add_at_once_none_is_lost(study, tmp_path, file):
    script = (
        "import sys; from pathlib import Path; from wardround.site.consent_file import ConsentFile\n"
        "from wardround.records.consent import Revocation\n"
        "for k in range(15): ConsentFile(Path(sys.argv[1]), sys.argv[2]).add("
        "Revocation(time='2030', person=sys.argv[3], why=str(k)))"
    )
    children = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path), study.name, who], env={"PYTHONPATH": ":".join(sys.path)}
        )
        for who in ("first", "second")
    ]
    assert [child.wait() for child in children] == [0, 0]
    assert sorted((one.person, int(one.why)) for one in file.decisions()) == [
        (who, k) for who in ("first", "second") for k in range(15)
    ]


def test_who_decides_knows_the_decision_before(study, file):
    file.add(approval(study), knowing=[])
    seen = file.decisions()
    file.add(revocation())
    with pytest.raises(WardroundError, match=r"revoked by Dr\. Vogel.*end of the study"):
        file.add(approval(study), knowing=seen)
    assert file.last() == revocation()
    file.add(approval(study), knowing=file.decisions())


def test_the_line_that_is_damaged_is_told(study, tmp_path, file):
    file.add(approval(study))
    file.add(revocation())
    first, second = file.file.read_bytes().splitlines()
    file.file.write_bytes(first + b"\n" + second[:-1] + b',"until":"2031"}\n')  # as a newer version might write it
    with pytest.raises(WardroundError, match=r"jsonl, line 2: .*Extra inputs"):
        file.decisions()
    file.file.write_bytes(first + second + b"\n")
    with pytest.raises(WardroundError, match=r"jsonl, line 1: .*trailing characters"):
        file.decisions()


@pytest.mark.parametrize(("number", "moved"), [(errno.EACCES, False), (errno.EIO, True)])
def test_what_a_user_may_not_read_is_never_moved_away_on_our_advice(study, file, monkeypatch, number, moved):
    file.add(revocation())

    def refuse(path):
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr(type(file.file), "read_bytes", refuse)
    with pytest.raises(WardroundError) as told:
        file.decisions()
    assert ("move it away" in str(told.value)) is moved
    assert ("let this user read it" in str(told.value)) is not moved


def test_the_admins_view_has_the_decision_that_holds(study, tmp_path, file):
    assert consents(tmp_path) == []
    file.add(approval(study))
    assert [(one.study, one.approved) for one in consents(tmp_path)] == [(study.name, True)]
    assert consents(tmp_path)[0].told == "approved by Dr. Vogel, ETH-7, 2030-01-01 09:00:00 UTC"
    file.add(revocation())
    assert not consents(tmp_path)[0].approved
