import subprocess
import sys
from datetime import UTC, datetime

import pytest

from support.consents import approval
from support.fake_workload import make_study
from wardround.records.consent import Revocation
from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import load_study
from wardround.site.config import SiteConfig
from wardround.site.consent import Consent, ConsentFile, consents, require_consent, subject_of
from wardround.site.permission import site_permission

NOW = datetime(2030, 1, 7, tzinfo=UTC)


def revocation():
    return Revocation(time="2030-01-02T09:00:00+00:00", person="Dr. Vogel", why="end of the study")


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def file(study, tmp_path):
    return ConsentFile(tmp_path, study.name)


def hospital(folder, **nature):
    return SiteConfig(name="h", data={"fake": {}}, state_folder=folder, **nature)


def reason(study, folder, **nature):
    refusal = Consent(study, hospital(folder, **nature)).refusal("train", NOW)
    return refusal and refusal.reason


def test_nothing_is_done_before_somebody_has_approved(study, tmp_path, file):
    assert reason(study, tmp_path) is Reason.CONSENT_MISSING
    file.add(approval(study))
    assert reason(study, tmp_path) is None


def test_what_a_job_asked_for_can_be_looked_at_and_approved_as_it_is(study, tmp_path, file):
    refusal = Consent(study, hospital(tmp_path)).refusal("prepare", NOW)
    assert str(file.asked) in refusal.told
    assert load_study(file.asked).digest() == study.digest()


def test_any_change_asks_again_and_is_told(study, tmp_path, file):
    file.add(approval(study))
    other = study.model_copy(update={"seed": study.seed + 1})
    refusal = Consent(other, hospital(tmp_path)).refusal("train", NOW)
    assert refusal.reason is Reason.CONSENT_CHANGED
    assert f"seed: {study.seed} -> {study.seed + 1}" in refusal.told


@pytest.mark.parametrize("change", [{"package_sha256": "f" * 64}, {"image_digest": "sha256:" + "f" * 64}])
def test_other_code_and_another_image_ask_again(study, tmp_path, file, change):
    file.add(approval(study, subject=subject_of(study).model_copy(update=change)))
    assert reason(study, tmp_path) is Reason.CONSENT_CHANGED


def test_a_consent_that_is_revoked_while_a_task_runs_ends_it(study, tmp_path, file):
    file.add(approval(study))
    rule = Consent(study, hospital(tmp_path))
    assert rule.refusal("train", NOW) is None
    file.add(revocation())
    assert rule.refusal("train", NOW).reason is Reason.CONSENT_REVOKED
    assert "end of the study" in rule.refusal("train", NOW).told
    file.add(approval(study))
    assert rule.refusal("train", NOW) is None
    assert [one.kind for one in file.decisions()] == ["approval", "revocation", "approval"]


def test_of_decisions_that_two_processes_add_at_once_none_is_lost(study, tmp_path, file):
    script = (
        "import sys; from pathlib import Path; from wardround.site.consent import ConsentFile\n"
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


@pytest.mark.parametrize("content", [b"{}\n", b"\xff\n", b'{"kind":"approval","time":"2030"'])
def test_a_damaged_file_is_no_consent(study, tmp_path, file, content):
    file.add(approval(study))
    file.file.write_bytes(file.file.read_bytes() + content)
    assert reason(study, tmp_path) is Reason.CONSENT_MISSING
    with pytest.raises(WardroundError, match="cannot be read"):
        file.add(approval(study))
    assert consents(tmp_path)[0].approved is False


@pytest.mark.parametrize(
    ("nature", "refused"),
    [({}, True), ({"synthetic": True}, False), ({"pseudo_site": True}, False), ({"public_data": True}, False)],
)
def test_only_patients_have_to_be_asked_for(study, tmp_path, nature, refused):
    config = hospital(tmp_path, **nature)
    assert bool(site_permission(study, config).refusal("prepare", NOW)) is refused
    if refused:
        with pytest.raises(WardroundError) as caught:
            require_consent(study, config)
        assert caught.value.code is Reason.CONSENT_MISSING
    else:
        require_consent(study, config)


@pytest.mark.parametrize("nature", [{"synthetic": True}, {"pseudo_site": True}, {"public_data": True}])
def test_where_no_approval_is_needed_a_revocation_ends_a_study_all_the_same(study, tmp_path, file, nature):
    config = hospital(tmp_path, **nature)
    rules = site_permission(study, config)
    file.add(approval(study, subject=subject_of(study).model_copy(update={"package_sha256": "f" * 64})))
    assert rules.refusal("train", NOW) is None
    file.add(revocation())
    assert rules.refusal("train", NOW).reason is Reason.CONSENT_REVOKED
    with pytest.raises(WardroundError, match="end of the study"):
        require_consent(study, config)
    file.file.write_bytes(b"{}\n")
    assert rules.refusal("train", NOW).reason is Reason.CONSENT_MISSING
    file.file.unlink()
    assert rules.refusal("train", NOW) is None


def test_the_admins_view_has_the_decision_that_holds(study, tmp_path, file):
    assert consents(tmp_path) == []
    file.add(approval(study))
    assert [(one.study, one.approved) for one in consents(tmp_path)] == [(study.name, True)]
    assert consents(tmp_path)[0].told == "approved by Dr. Vogel, ETH-7, 2030-01-01 09:00:00 UTC"
    file.add(revocation())
    assert not consents(tmp_path)[0].approved
