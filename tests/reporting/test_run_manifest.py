"""A run's manifest: who, what, and with which definitions, from the record alone."""

import json
from pathlib import Path

import pytest

from support.fake_workload import make_study
from support.made_risk_run import whole_risk_run
from support.made_run import OUTSIDE, TRAINING, start, whole_run
from wardround.records.acceptance import Acceptance
from wardround.records.code import code_facts
from wardround.records.declared import DeclaredData
from wardround.records.manifest import RunManifest, read_manifest, write_manifest
from wardround.records.reasons import Reason, WardroundError
from wardround.records.run_lines import EndLine, JoinLine, RunLine
from wardround.reporting.run_manifest import make_manifest, manifest_of_a_failure
from wardround.reporting.vocabularies import VOCABULARIES


def changed(**update: object) -> list[RunLine]:
    lines = whole_run()
    lines[0] = start().model_copy(update=update)
    return lines


def test_it_names_the_run_its_study_and_its_sites() -> None:
    manifest = make_manifest(whole_run(), {})
    assert (manifest.run, manifest.status, manifest.environment) == ("20260101-120000", "complete", "sim")
    assert (manifest.study, manifest.study_sha256, manifest.contract_sha256) == ("brain_tumor", "d" * 64, "c")
    assert (manifest.rounds_done, manifest.rounds, manifest.best_round, manifest.last_round) == (4, 4, 3, 4)
    assert [(site.site, site.role, site.nature) for site in manifest.sites] == [
        *((site, "train", "hospital") for site in TRAINING),
        (OUTSIDE, "evaluate", "hospital"),
    ]
    assert manifest.sites[0].counts == {"train_patients": 6, "test_cases": 8}


def test_every_seed_of_the_settings_is_named_by_its_key() -> None:
    study = {**start().study, "seed": 7, "workload": {"kind": "brain_tumor", "split": {"seed": 3, "by": "patient"}}}
    assert make_manifest(changed(study=study), {}).seeds == {"seed": 7, "workload.split.seed": 3}


def test_criteria_are_those_that_the_run_began_with() -> None:
    study = {**start().study, "acceptance": {"worst_site": {"dice_mean": 0.6}}}
    assert make_manifest(changed(study=study), {}).acceptance == Acceptance(worst_site={"dice_mean": 0.6})


def test_what_sites_declare_and_run_is_kept() -> None:
    declared = DeclaredData(data_version="2026-03", label_definition="two_readers")
    sites = [site.model_copy(update={"declared": declared, "code": code_facts()}) for site in start().sites]
    manifest = make_manifest(changed(sites=sites, code=code_facts()), {})
    assert manifest.sites[0].declared == declared
    assert manifest.sites[0].code == manifest.code == code_facts()


def test_a_site_that_joined_late_is_there_with_its_round_and_a_missing_one_is_named() -> None:
    late, missing = start().sites[1:3]
    rest = [site for site in start().sites if site not in (late, missing)]
    lines = changed(sites=rest, missing=[late.site, missing.site])
    manifest = make_manifest([lines[0], JoinLine(round=1, manifest=late), *lines[1:]], {})
    assert [site.joined_in for site in manifest.sites if site.site == late.site] == [2]
    assert manifest.missing == [missing.site]
    assert manifest.status == "partial"


def test_a_small_count_is_the_range_that_left_the_site() -> None:
    update = {"banded": {"test_cases": (1, 4)}, "counts": {"train_patients": 6}, "banded_problems": {"late": (5, None)}}
    sites = [start().sites[0].model_copy(update=update), *start().sites[1:]]
    told = make_manifest(changed(sites=sites), {}).sites[0]
    assert told.counts == {"train_patients": 6, "test_cases": "1 to 4"}
    assert told.left_out == {"late": "at least 5"}


def test_sites_of_two_contracts_have_no_common_one() -> None:
    sites = [site.model_copy(update={"contract_digest": f"c{number}"}) for number, site in enumerate(start().sites)]
    assert make_manifest(changed(sites=sites), {}).contract_sha256 is None


@pytest.mark.parametrize("lines", [whole_run, whole_risk_run])
def test_every_figure_of_a_record_is_defined(lines: object) -> None:
    made = lines()  # type: ignore[operator]
    manifest = make_manifest(made, {})
    names = {record.name for line in made if line.kind == "score" for record in line.records}
    defined = {definition.name for definition in manifest.metrics}
    assert names
    assert [name for name in names if not any(name == key or name.startswith(f"{key}_") for key in defined)] == []
    assert manifest.metrics_version >= 1
    better = {definition.name: definition.better for definition in manifest.metrics}
    assert better.get("dice", "higher") == "higher"
    assert better.get("brier", "lower") == "lower"


@pytest.mark.parametrize("kind", sorted(VOCABULARIES))
def test_every_family_of_a_vocabulary_has_its_formula(kind: str) -> None:
    assert [family.key for family in VOCABULARIES[kind].families if not family.formula] == []


def test_a_stopped_run_says_so() -> None:
    assert make_manifest(whole_run()[:-1], {}).status == "stopped"


def test_a_run_that_never_began_has_its_study_and_this_machines_code() -> None:
    study = make_study(acceptance={"worst_site": {"accuracy": 0.5}})
    manifest = manifest_of_a_failure(study, "prod", [], "quorum_not_met")
    assert (manifest.status, manifest.reasons, manifest.run) == ("failed", ["quorum_not_met"], None)
    assert (manifest.study_sha256, manifest.code, manifest.sites) == (study.digest(), code_facts(), [])
    assert manifest.acceptance.worst_site == {"accuracy": 0.5}
    ended = manifest_of_a_failure(study, "prod", [EndLine(status="failed", reasons=["hospital-b: late"])], "other")
    assert ended.reasons == ["hospital-b: late"]


def test_it_comes_back_from_its_file_as_it_was(tmp_path: Path) -> None:
    manifest = make_manifest(whole_run(), {})
    write_manifest(tmp_path, manifest)
    assert read_manifest(tmp_path) == manifest
    assert RunManifest.model_validate(json.loads((tmp_path / "manifest.json").read_text())) == manifest


@pytest.mark.parametrize(("content", "code"), [(None, Reason.DATA_MISSING), ("{}", Reason.DATA_UNREADABLE)])
def test_a_missing_or_strange_file_is_told(tmp_path: Path, content: str | None, code: Reason) -> None:
    if content is not None:
        (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(WardroundError, match=r"manifest\.json") as caught:
        read_manifest(tmp_path)
    assert caught.value.code is code
