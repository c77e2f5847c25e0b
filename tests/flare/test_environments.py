"""What is refused before FLARE is started, and what is said after it."""

from pathlib import Path

import pytest
import yaml

from support.fake_workload import make_study
from wardround.flare import environments
from wardround.flare.environments import check_study, run_study
from wardround.records.reasons import Reason, WardroundError
from wardround.records.run_lines import EndLine, Environment, append_line
from wardround.records.study import Study


def _site(folder: Path, name: str, role: str = "train", *, synthetic: bool = True) -> Path:
    file = folder / f"{len(list(folder.glob('*.yaml')))}.yaml"
    settings = {"name": name, "role": role, "synthetic": synthetic, "data": {"fake": {"seed": 1}}}
    file.write_text(yaml.safe_dump(settings))
    return file


def _run(study: Study, folder: Path, environment: str = "sim", **options: object) -> None:
    run_study(
        folder / "study",
        study,
        environment=environment,  # type: ignore[arg-type]
        sites=options.pop("sites", []),  # type: ignore[arg-type]
        out=folder / "out",
        on_line=lambda _line: None,
        **options,  # type: ignore[arg-type]
    )


def test_production_refuses_a_quorum_below_three(tmp_path: Path) -> None:
    study = make_study(federation={"quorum": 2})
    with pytest.raises(WardroundError, match=r"federation\.quorum: 2 is too small"):
        _run(study, tmp_path, "prod", kit=tmp_path)


def test_a_quorum_below_three_on_one_machine_is_for_generated_data_alone(tmp_path: Path) -> None:
    sites = [_site(tmp_path, "hospital-a"), _site(tmp_path, "hospital-b", synthetic=False)]
    with pytest.raises(WardroundError, match=r"federation\.quorum: 2 is too small"):
        _run(make_study(federation={"quorum": 2}), tmp_path, sites=sites)


@pytest.mark.parametrize("environment", ["sim", "poc"])
def test_more_gpus_than_this_machine_has_are_refused_with_both_numbers(
    tmp_path: Path, environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environments.torch.cuda, "device_count", lambda: 1)
    study = make_study(federation={"quorum": 1, "gpus": 2})
    with pytest.raises(WardroundError, match=r"federation\.gpus: 2 are wanted at each site, this machine has 1"):
        check_study(tmp_path, study, environment=environment, sites=[])


def test_production_needs_a_startup_kit(tmp_path: Path) -> None:
    with pytest.raises(WardroundError, match="--kit"):
        _run(make_study(), tmp_path, "prod")
    with pytest.raises(WardroundError, match=r"expected startup/fed_admin\.json"):
        _run(make_study(), tmp_path, "prod", kit=tmp_path)


def test_two_sites_of_one_name_and_too_few_sites_are_refused(tmp_path: Path) -> None:
    study = make_study(federation={"quorum": 2})
    with pytest.raises(WardroundError, match="'hospital-a' is used by more than one site"):
        _run(study, tmp_path, sites=[_site(tmp_path, "hospital-a"), _site(tmp_path, "hospital-a")])
    with pytest.raises(WardroundError, match=r"2 training sites are needed, 1 are configured \(hospital-b\)") as caught:
        _run(study, tmp_path, sites=[_site(tmp_path, "hospital-b"), _site(tmp_path, "hospital-d", "evaluate")])
    assert caught.value.code == Reason.QUORUM_NOT_MET


def test_a_failed_run_is_told_in_its_own_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reason = "round 1: 0 sites of a quorum of 2 (hospital-a: module_missing, hospital-b: module_missing)"

    def fail(*_: object, out: Path, **__: object) -> None:
        append_line(out / "run.jsonl", EndLine(status="failed", reasons=[reason]))
        # which FLARE says of every failed job: it tells nothing that the record does not
        (out / "flare.log").write_text(
            "job 1: FINISHED:EXECUTION_EXCEPTION: a process of the job failed or was ended\n"
        )

    monkeypatch.setattr(environments, "run_in_simulator", fail)
    sites = [_site(tmp_path, "hospital-a"), _site(tmp_path, "hospital-b")]
    with pytest.raises(WardroundError) as caught:
        _run(make_study(federation={"quorum": 2}), tmp_path, sites=sites)
    assert str(caught.value) == f"{reason}; the words behind a code are in that site's own site.log"


def test_a_job_that_names_a_missing_module_is_told_from_flares_log_without_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, out: Path, **__: object) -> None:
        (out / "flare.log").write_text(
            'Traceback (most recent call last):\n  File "/srv/hospital/run.py", line 3\n'
            "ModuleNotFoundError: No module named 'monai' (from /srv/hospital/run.py)\nmore\n"
        )

    monkeypatch.setattr(environments, "run_in_simulator", fail)
    sites = [_site(tmp_path, "hospital-a"), _site(tmp_path, "hospital-b")]
    with pytest.raises(WardroundError) as caught:
        _run(make_study(federation={"quorum": 2}), tmp_path, sites=sites)
    assert str(caught.value) == "FLARE ended the run early: No module named 'monai' (from <path>)"
