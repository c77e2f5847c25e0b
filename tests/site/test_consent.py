import os
from datetime import UTC, datetime

import pytest

from support.consents import approval, revocation
from support.fake_workload import make_study
from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import load_study
from wardround.site.config import SiteConfig
from wardround.site.consent import Consent, require_consent, subject_of
from wardround.site.consent_file import ConsentFile, consents
from wardround.site.permission import site_permission

NOW = datetime(2030, 1, 7, tzinfo=UTC)


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


@pytest.mark.parametrize("content", [b"{}\n", b"\xff\n", b'{"kind":"approval","time":"2030"'])
def test_a_damaged_file_is_no_consent(study, tmp_path, file, content):
    file.add(approval(study))
    file.file.write_bytes(file.file.read_bytes() + content)
    assert reason(study, tmp_path) is Reason.CONSENT_MISSING
    with pytest.raises(WardroundError, match="cannot be read"):
        file.add(approval(study))
    assert consents(tmp_path)[0].approved is False


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\0" * 40])
@pytest.mark.parametrize("nature", [{}, {"synthetic": True}])
def test_a_file_that_lost_its_decisions_may_have_held_a_revocation(study, tmp_path, file, content, nature):
    file.add(revocation())
    file.file.write_bytes(content)
    assert reason(study, tmp_path, **nature) is Reason.CONSENT_MISSING
    assert not consents(tmp_path)[0].approved
    with pytest.raises(WardroundError, match="restore it from a backup"):
        file.add(approval(study))


@pytest.mark.parametrize("place", ["link", "folder's link", "pipe", "folder"])
def test_a_place_that_holds_something_else_than_a_file_is_no_lack_of_decisions(study, tmp_path, file, place):
    at = file.file if place != "folder's link" else file.file.parent
    at.parent.mkdir(exist_ok=True)
    if place == "pipe":
        os.mkfifo(at)
    elif place == "folder":
        at.mkdir()
    else:
        at.symlink_to("a disk that is not mounted")
    assert reason(study, tmp_path, synthetic=True) is Reason.CONSENT_MISSING


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
