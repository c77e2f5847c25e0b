"""The clinical risk study on generated tables, from the command line, and heart disease on the hospitals' own files."""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.looks import a_look
from support.public_data import needs_data, with_data
from wardround.learners.checkpoint import load_checkpoint
from wardround.records.changed import changed
from wardround.records.code import code_facts
from wardround.records.files import sha256_of
from wardround.records.manifest import read_manifest
from wardround.records.run_lines import EndLine, RunLine, ScoreLine, StartLine, read_lines
from wardround.records.shared_monitoring import SharedCriterion, SharedMonitoring
from wardround.releases.candidate import candidate
from wardround.site.outbox import read_lines as read_outbox
from wardround.site.shared_look import keep_look
from wardround.workloads.clinical_risk.synth.writer import write_hospitals

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
TRAINING = ["hospital-a", "hospital-b", "hospital-c"]
EVERYONE = [*TRAINING, "hospital-d"]
LESS_WORK = ["training.rounds=3", "training.local_epochs=1", "evaluation.personalise_steps=10"]


LOOK = a_look("clinical_risk")


@dataclass
class Run:
    out: Path
    lines: list[RunLine]
    printed: str

    @property
    def start(self) -> StartLine:
        return next(line for line in self.lines if isinstance(line, StartLine))

    def scores(self, arm: str, split: str = "test") -> dict[str, ScoreLine]:
        scored = (line for line in self.lines if isinstance(line, ScoreLine))
        return {line.site: line for line in scored if (line.arm, line.split) == (arm, split)}


def _run(study: str, sites: Path, out: Path, *options: str) -> Run:
    settings = [part for setting in LESS_WORK for part in ("--set", setting)]
    job = str(ROOT / "jobs" / study)
    command = [sys.executable, "-m", "wardround.cli.main", "run", job, "--sites", str(sites), "--out", str(out)]
    environment = with_data(PYTHONPATH=str(ROOT / "custom"), COLUMNS="120")
    done = subprocess.run([*command, *settings, *options], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return Run(out, read_lines(out / "run.jsonl"), f"{done.stdout}{done.stderr}")


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("generated")
    write_hospitals(folder / "sites", rows=600, seed=2)
    keep_look(folder / "sites" / "hospital-b" / "state", LOOK)
    keep_look(folder / "sites" / "hospital-d" / "state", a_look("clinical_risk", patients=1))
    return _run("clinical_risk", folder / "sites", folder / "out", "--baselines")


def test_the_run_is_complete_with_every_hospital(generated: Run) -> None:
    assert [line.status for line in generated.lines if isinstance(line, EndLine)] == ["complete"]
    assert [site.site for site in generated.start.sites] == EVERYONE
    assert {site.nature for site in generated.start.sites} == {"generated"}
    assert (generated.out / "report.html").stat().st_size > 0


def test_a_look_at_a_released_model_that_a_hospital_shared_is_in_outbox_record_report_and_what_is_printed(
    generated: Run,
) -> None:
    told = changed(LOOK, criteria=[SharedCriterion(metric="brier", met=False)])
    looks = {site.site: site.monitoring for site in generated.start.sites}
    assert looks == {**dict.fromkeys(EVERYONE), "hospital-b": told}  # hospital-d's is of too few patients
    sites = generated.out.parent / "sites"
    (left,) = [line for line in read_outbox(sites / "hospital-b" / "state") if line.task == "prepare"]
    assert left.reply is not None
    assert SharedMonitoring.model_validate(left.reply["manifest"]["monitoring"]) == told
    text = "no longer met: Brier score; inputs: 1 moved much, 1 moved moderately, 2 stable"
    assert f"hospital-b: released model v2 on 53 cases of 40 patients, 2030-01-31; {text}" in generated.printed
    report = (generated.out / "report.html").read_text()
    assert "Drift between runs" in report
    assert "no longer met: Brier score" in report
    assert "monitoring: held back" in (sites / "hospital-d" / "state" / "site.log").read_text()


def test_it_says_who_is_waited_for_before_the_first_round_and_what_can_follow(generated: Run) -> None:
    assert "hospitals open their data: waiting for hospital-a, hospital-b" in generated.printed
    assert "round 1 is training: waiting for hospital-a, hospital-b" in generated.printed
    # no release is proposed, since the run does not meet its criteria
    assert f"next: wardround runs show {generated.out}\n" in generated.printed


def test_its_manifest_names_the_code_everywhere_and_the_models_as_they_are(generated: Run) -> None:
    manifest = read_manifest(generated.out)
    assert (manifest.run, manifest.status, manifest.environment) == (generated.start.run, "complete", "sim")
    assert [site.site for site in manifest.sites] == EVERYONE
    assert manifest.contract_sha256 == generated.start.sites[0].contract_digest
    ours = code_facts().package_sha256
    assert {(part.code and part.code.package_sha256) for part in (manifest, *manifest.sites)} == {ours}
    assert manifest.seeds == {"seed": 0, "workload.split.seed": 0}
    for name in ("best", "last"):
        model = manifest.models[name]
        assert model.sha256 == sha256_of(generated.out / model.file)
        assert model.weights_sha256 == load_checkpoint(generated.out / model.file).card.weights_sha256
    end = next(line for line in generated.lines if isinstance(line, EndLine))
    assert manifest.models["last"].weights_sha256 == end.weights_sha256
    assert manifest.models["best"].model_round == manifest.best_round == end.best_round


def test_a_release_of_it_is_decided_by_criteria_that_every_site_has_figures_for(generated: Run) -> None:
    chosen = candidate(generated.out)
    assert chosen.outcome.criteria
    for criterion in chosen.outcome.criteria:
        everyone = EVERYONE if criterion.kind == "worst_site" else TRAINING
        assert [check.site for check in criterion.sites] == everyone
        assert {check.reason for check in criterion.sites} <= {None, "fewer_than_10_positives"}


def test_hospitals_that_write_differently_agree_on_one_contract_and_one_network(generated: Run) -> None:
    sites = generated.start.sites
    assert len({site.contract_digest for site in sites}) == 1
    assert len({str(site.shared) for site in sites}) == 1


def test_sums_by_column_come_from_training_sites_alone(generated: Run) -> None:
    sums = {site.site: {tally.name for tally in site.statistics} for site in generated.start.sites}
    assert "column_creatinine" in sums["hospital-b"]
    assert not sums["hospital-d"]


def test_every_arm_is_scored(generated: Run) -> None:
    for arm in ("best", "last", "pooled"):
        assert list(generated.scores(arm)) == EVERYONE, arm
    assert set(generated.scores("personalised")) == set(TRAINING)
    for site in TRAINING:
        assert set(generated.scores(f"alone:{site}")) == set(EVERYONE)


def test_figures_carry_counts_and_cohorts(generated: Run) -> None:
    line = generated.scores("best")["hospital-b"]
    found = {record.name: record for record in line.records}
    for name in ("auroc", "auprc", "brier"):
        assert found[name].n_positive
        assert found[name].value is not None
        assert 0 < found[name].value < 1
    assert {cohort.name for cohort in line.cohorts} >= {"sex", "age_band"}
    assert line.alerts


@needs_data("heart_disease")
def test_a_hospital_of_one_class_trains_and_is_never_given_an_auroc_of_0_or_1(tmp_path: Path) -> None:
    sites = shutil.copytree(ROOT / "site_configs" / "heart_disease", tmp_path / "site_configs" / "heart_disease")
    run = _run("heart_disease", sites, tmp_path / "out")
    assert {site.site for site in run.start.sites} == {"cleveland", "hungarian", "switzerland", "va"}
    swiss = {record.name: record for record in run.scores("best")["switzerland"].records}
    assert swiss["auroc"].status in {"undefined", "low_support", "suppressed"}
    assert swiss["auroc"].value is None or swiss["auroc"].status == "low_support"
    assert swiss["brier"].value is not None
