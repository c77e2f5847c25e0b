import pytest
import yaml
from typer.testing import CliRunner

from support.provisioned import ROOT
from wardround.cli import site_consent
from wardround.cli.main import app
from wardround.records.consent import Approval, Revocation
from wardround.records.reasons import Reason
from wardround.records.study import load_study
from wardround.site.config import load_site_config
from wardround.site.consent_file import ConsentFile
from wardround.site.permission import site_permission

STUDY = ROOT / "jobs" / "clinical_risk"
WHO = ["--person", "Dr. Vogel", "--ethics", "ETH-7"]


@pytest.fixture
def site(tmp_path):
    settings = yaml.safe_load((ROOT / "site_configs" / "hospital-a" / "site.yaml").read_text(encoding="utf-8"))
    del settings["synthetic"]
    file = tmp_path / "site.yaml"
    file.write_text(yaml.safe_dump({**settings, "state_folder": "state"}), encoding="utf-8")
    return file


def run(*arguments, expect=0):
    result = CliRunner().invoke(app, ["site", *map(str, arguments)])
    assert result.exit_code == expect, result.output
    return result.output


def refusal(site, *overrides):
    study = load_study(STUDY, overrides)
    return site_permission(study, load_site_config(site)).refusal("train", None)


def test_an_approval_records_who_and_what_and_lets_the_study_begin(site):
    assert refusal(site).reason is Reason.CONSENT_MISSING
    output = run("approve", STUDY, "--site", site, *WHO)
    study = load_study(STUDY)
    assert study.digest() in output
    summary = dict(line.split(maxsplit=1) for line in output.partition("\napproved")[0].splitlines())
    assert list(summary) == ["study", "contract", "training", "quorum", "leaves", "own", "release"]
    assert f"{study.training.rounds} rounds of 1 pass " in summary["training"]
    assert f"needs {study.federation.quorum} hospitals" in summary["quorum"]
    assert "outcome readmitted (" in summary["contract"]
    assert "creatinine" in summary["contract"]
    assert "fine-tuning" in summary["own"]
    assert "brier_skill 0 at the worst site" in summary["release"]
    last = ConsentFile(load_site_config(site).state_folder, study.name).last()
    assert isinstance(last, Approval)
    assert (last.person, last.ethics_reference) == ("Dr. Vogel", "ETH-7")
    assert refusal(site) is None


def test_a_changed_study_shows_the_difference_and_needs_a_yes(site):
    run("approve", STUDY, "--site", site, *WHO)
    again = ("approve", STUDY, "--site", site, *WHO, "--set", "training.rounds=3")
    rounds = load_study(STUDY).training.rounds
    output = run(*again, expect=2)
    assert f"training.rounds: {rounds} -> 3" in output
    assert refusal(site, "training.rounds=3").reason is Reason.CONSENT_CHANGED
    run(*again, "--yes")
    assert refusal(site, "training.rounds=3") is None
    assert refusal(site).reason is Reason.CONSENT_CHANGED


@pytest.mark.parametrize(
    "change",
    [
        "training.rounds=3",
        "training.local_epochs=2",
        "federation.quorum=4",
        "federation.gpus=1",
        "algorithm.kind=local_head",
        "workload.split.test_fraction=0.4",
        "acceptance.worst_site.brier_skill=-1",
        "evaluation.compare_alone=true",
    ],
)
def test_a_run_that_goes_on_with_other_waits_asks_nobody_again_and_any_other_change_does(site, change):
    run("approve", STUDY, "--site", site, *WHO)
    waits = ("federation.round_deadline_seconds=60", "federation.grace_period_seconds=5")
    assert refusal(site, *waits, "federation.prepare_deadline_seconds=9") is None
    refused = refusal(site, *waits, change)
    assert refused.reason is Reason.CONSENT_CHANGED
    assert change.partition("=")[0] in refused.told
    assert "seconds" not in refused.told.partition(": look at")[0]


def test_what_a_refused_job_asked_for_is_approved_from_its_file(site):
    refused = refusal(site, "seed=9")
    asked = ConsentFile(load_site_config(site).state_folder, "clinical_risk").asked
    assert str(asked) in refused.told
    run("approve", asked, "--site", site, *WHO)
    assert refusal(site, "seed=9") is None


def test_revoking_stops_it(site):
    run("approve", STUDY, "--site", site, *WHO)
    run("revoke", "clinical_risk", "--site", site, "--person", "Dr. Vogel", "--why", "end")
    assert refusal(site).reason is Reason.CONSENT_REVOKED
    assert "nothing to revoke" in run(
        "revoke", "clinical_risk", "--site", site, "--person", "x", "--why", "y", expect=2
    )


def test_where_no_approval_is_needed_a_study_is_revoked_all_the_same(site):
    site.write_text(site.read_text(encoding="utf-8") + "synthetic: true\n", encoding="utf-8")
    assert refusal(site) is None
    revoked = ("revoke", "clinical_risk", "--site", site, "--person", "Dr. Vogel", "--why", "end")
    assert "nobody had approved" in run(*revoked)
    assert refusal(site).reason is Reason.CONSENT_REVOKED
    assert "nothing to revoke" in run(*revoked, expect=2)
    assert "a revocation is heeded all the same" in run("approve", STUDY, "--site", site, *WHO, "--yes")
    assert refusal(site) is None


@pytest.mark.parametrize("study", ["../../x", "/tmp/x", ""])
def test_what_is_no_studys_name_is_not_made_a_path(site, study):
    assert "expected a study's name" in run("revoke", study, "--site", site, "--person", "x", "--why", "y", expect=2)


def test_a_study_that_was_revoked_is_approved_again_only_by_whoever_knows_that(site):
    run("approve", STUDY, "--site", site, *WHO)
    run("revoke", "clinical_risk", "--site", site, "--person", "Dr. Adler", "--why", "complaints")
    told = run("approve", STUDY, "--site", site, *WHO, expect=2)
    assert "Dr. Adler" in told
    assert "complaints" in told
    assert "not approved: it was revoked by Dr. Adler" in told
    assert "to approve all the same add --yes" in told
    assert refusal(site).reason is Reason.CONSENT_REVOKED
    run("approve", STUDY, "--site", site, *WHO, "--yes")
    assert refusal(site) is None


def test_a_revocation_that_comes_while_an_approval_is_thought_over_stays(site, monkeypatch):
    run("approve", STUDY, "--site", site, *WHO)
    file = ConsentFile(load_site_config(site).state_folder, "clinical_risk")

    def answered(_question):
        file.add(Revocation(time="2030-01-02T09:00:00+00:00", person="Dr. Adler", why="complaints"))

    monkeypatch.setattr(site_consent, "_ask", answered)
    output = run("approve", STUDY, "--site", site, *WHO, "--set", "seed=9", expect=2)
    assert "complaints" in output
    assert refusal(site, "seed=9").reason is Reason.CONSENT_REVOKED


def test_an_image_is_named_by_its_digest(site):
    assert "--image" in run("approve", STUDY, "--site", site, *WHO, "--image", "wardround/tabular:1", expect=2)
    run("approve", STUDY, "--site", site, *WHO, "--image", "sha256:" + "a" * 64)
    assert "image: sha256:" in refusal(site).told


def test_an_answer_that_nobody_gave_is_named_as_an_option(site):
    assert "(--ethics)" in run("approve", STUDY, "--site", site, "--person", "Ada", expect=1)
    assert "(--person)" in run("revoke", "clinical_risk", "--site", site, "--why", "asked to", expect=1)


def test_a_name_that_says_nothing_is_refused(site):
    assert "--person" in run("approve", STUDY, "--site", site, "--person", " ", "--ethics", "ETH-7", expect=2)


@pytest.mark.parametrize(("person", "ethics", "option"), [(" ", "ETH-7", "--person"), ("Dr. Vogel", "", "--ethics")])
def test_who_answers_for_a_changed_study_is_looked_at_before_anybody_is_asked(
    site, monkeypatch, person, ethics, option
):
    run("approve", STUDY, "--site", site, *WHO)
    asked = []
    monkeypatch.setattr(site_consent, "_ask", asked.append)
    changed = ("--set", "training.rounds=3", "--person", person, "--ethics", ethics)
    assert f"{option}: expected 1 to 200 characters" in run("approve", STUDY, "--site", site, *changed, expect=2)
    assert asked == []
