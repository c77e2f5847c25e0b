"""`wardround site monitor`: a released model on new cases, fit or not, and what moved."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

from support.made_release import key_pair
from support.signed_release import outcome, signed_release
from support.small_risk import first_entries, risk_study
from wardround.cli.main import app
from wardround.learners.initial import with_statistics
from wardround.records.files import sha256_of
from wardround.records.study import load_study
from wardround.site.config import load_site_config
from wardround.site.shared_look import look_file, shared_look
from wardround.workloads.clinical_risk.synth.writer import write_hospitals
from wardround.workloads.registry import make_workload

JOB = Path(__file__).parents[2] / "jobs" / "clinical_risk"
Release = Callable[..., Path]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hospital of 300 stays, and the key of whoever signs releases."""
    folder = tmp_path_factory.mktemp("monitored")
    write_hospitals(folder, hospitals=1, rows=300, seed=2)
    key_pair(folder)
    return folder


@pytest.fixture
def site(folder: Path) -> Path:
    return folder / "hospital-a" / "site.yaml"


@pytest.fixture
def release(folder: Path, site: Path, tmp_path: Path) -> Release:
    """Writes a signed release of an untrained model, whose inputs were those of the same hospital."""

    def write(limit: float) -> Path:
        study = load_study(JOB, ("federation.quorum=2",))
        workload, config = make_workload(study), load_site_config(site)
        data = workload.open_site(
            config.section("clinical_risk"), cache=tmp_path / "cache", disclosure=config.disclosure
        )
        tensors = with_statistics(first_entries(study), workload, data.statistics())
        return signed_release(tmp_path / "v1", folder, study, data, tensors, criterion=_criterion(limit))

    return write


def _criterion(limit: float) -> dict[str, Any]:
    return {"kind": "worst_site", "metric": "brier", "better": "lower", "limit": limit, "sites": []}


def _run(*arguments: Any) -> Any:
    return CliRunner().invoke(app, ["site", "monitor", *map(str, arguments)])


def test_a_model_that_still_does_is_fit_and_no_input_moved(release: Release, site: Path, folder: Path) -> None:
    found = _run(release(0.9), site, "--public-key", folder / "ec.pub")
    assert found.exit_code == 0, found.output
    assert shared_look(load_site_config(site).state_folder, "clinical_risk") is None  # nobody asked for that
    assert "all cases, those that it was trained on too: name new ones with --since or --cases" in found.output
    assert "signature: verified" in found.output
    assert "at most 0.900: met" in found.output
    assert "against the site's own model: not checked" in found.output
    assert "fit: every criterion is met; no input moved" in found.output


def test_a_criterion_that_is_missed_is_told_with_its_bound(release: Release, site: Path) -> None:
    found = _run(release(0.01), site, "--format", "json")
    assert found.exit_code == 1, found.output
    told = json.loads(found.stdout)
    (criterion,) = told["criteria"]
    (check,) = criterion["sites"]
    assert check["met"] is False
    assert check["bound"] == check["interval"][1] > 0.01
    assert (told["signature"], told["not_checked"]) == ("not_checked", ["brier"])
    assert told["cases"] > 200


def test_an_input_that_moved_is_flagged_and_only_counts_are_kept_to_leave(
    release: Release, site: Path, folder: Path, tmp_path: Path
) -> None:
    made = release(0.9)
    config = load_site_config(site)
    table = Path(config.section("clinical_risk")["source"]["file"])
    before = table.read_bytes()
    frame = pl.read_csv(table, infer_schema_length=None)
    column = config.section("clinical_risk")["columns"]["age"]["column"]
    try:
        frame.with_columns((pl.col(column).cast(pl.Float64, strict=False) / 2 + 18).alias(column)).write_csv(table)
        page = tmp_path / "page.html"
        found = _run(made, site, "--share", "--html", page, "--format", "json")
    finally:
        table.write_bytes(before)
    inputs = {one["name"]: one for one in json.loads(found.stdout)["inputs"]}
    assert inputs["age"]["judged"] == "large"
    assert inputs["age"]["index"] > 1
    others = [one["judged"] for name, one in inputs.items() if name != "age"]
    assert others.count("stable") == len(others)
    file = look_file(config.state_folder, "clinical_risk")
    told = found.stderr
    assert "with every job of clinical_risk leaves from now on: v1 on " in told
    assert "; met: Brier score; inputs: 1 moved much, " in told
    assert f"to take it back: rm {file}" in told
    shared = shared_look(config.state_folder, "clinical_risk")
    assert shared is not None
    assert shared.inputs["large"] == 1
    assert [(one.metric, one.met) for one in shared.criteria] == [("brier", True)]
    assert shared.release_sha256 == sha256_of(made / "SHA256SUMS")
    assert "age" not in file.read_text()
    assert "age" in page.read_text()
    assert page.stat().st_mode & 0o077 == 0  # it shows this hospital's figures
    file.unlink()


def test_some_cases_alone_may_be_too_few_to_tell(release: Release, site: Path, tmp_path: Path) -> None:
    made, ids = release(0.9), tmp_path / "ids.txt"
    workload = make_workload(risk_study())
    config = load_site_config(site)
    data = workload.open_new(config.section("clinical_risk"), cache=tmp_path, disclosure=config.disclosure)
    cases = data.score(workload.network().eval(), "test").cases[:4]
    ids.write_text("\n".join(case.case for case in cases) + "\n\n")
    found = _run(made, site, "--cases", ids)
    assert found.exit_code == 1, found.output
    assert "4 cases of" in found.output
    told = f"cases that {ids} names; any that it was trained on count too, and make it look better than it is"
    assert told in found.output
    assert "NOT fit" in found.output
    ids.write_text(f"{cases[0].case}\n")
    refused = _run(made, site, "--cases", ids, "--share")
    assert refused.exit_code == 2
    assert "1 cases of" in refused.output
    assert "too_few_patients" in refused.output
    assert "nothing may leave of so few, and this look is not kept to leave" in refused.output
    assert "still leaves" not in refused.output
    file = look_file(config.state_folder, "clinical_risk")
    assert not file.exists()
    file.parent.mkdir(exist_ok=True)
    file.write_text("{}")
    assert (
        f"the look that was shared before still leaves: rm {file}" in _run(made, site, "--cases", ids, "--share").output
    )
    file.unlink()
    ids.write_text("nobody\n")
    unknown = _run(made, site, "--cases", ids)
    assert unknown.exit_code == 2
    assert "no usable case or patient here (such as 'nobody')" in unknown.output


def test_a_release_that_was_changed_or_signed_by_another_is_refused(
    release: Release, site: Path, tmp_path: Path
) -> None:
    made = release(0.9)
    other = key_pair(tmp_path)[1]
    found = _run(made, site, "--public-key", other)
    assert found.exit_code == 2
    assert "not a signature of" in found.output
    (made / "acceptance.json").write_text(outcome(_criterion(5.0)).model_dump_json())
    changed = _run(made, site)
    assert changed.exit_code == 2
    assert "not as it was released" in changed.output
