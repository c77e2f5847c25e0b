"""The look at a site's data that the command, preflight and a job's first task share."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from support.made_cases import AGREED, made_hospital, write
from support.made_tables import made_frame, made_study, site_section
from wardround.records.inspection import Severity
from wardround.records.orders import Order
from wardround.records.reasons import Reason, WardroundError
from wardround.records.study import Study
from wardround.site.config import SiteConfig, load_site_config
from wardround.site.inspection import inspect_site
from wardround.site.inspection_record import last_inspections
from wardround.site.tasks import SiteTasks

IMAGES = Study.model_validate(
    {
        "name": "brain_tumor",
        "workload": {"kind": "brain_tumor", "patch": {"size": [16, 16, 16]}},
        "training": {"rounds": 1, "local_steps": 1, "learning_rate": 0.01},
        "evaluation": {"key_metric": "dice_mean"},
    }
)


def _config(folder: Path, kind: str, section: dict[str, Any], **changes: Any) -> SiteConfig:
    file = folder / "site.yaml"
    settings = {"name": "hospital-a", "synthetic": True, "data": {kind: section}, **changes}
    file.write_text(yaml.safe_dump(settings))
    return load_site_config(file)


@pytest.fixture
def hospitals(tmp_path: Path) -> dict[str, tuple[Study, SiteConfig]]:
    """One a workload, each with something that is left out."""
    images, tables = tmp_path / "images", tmp_path / "tables"
    made_hospital(images / "data", 5)
    (images / "data" / "P-5-000" / "P-5-000-t1c.nii.gz").write_bytes(b"text")
    write(images / "data" / "P-2-000" / "P-2-000-seg.nii.gz", np.zeros((20, 22, 18), np.uint8))
    lists = {"train": ["P-1", "P-2"], "validation": ["P-3"], "test": ["P-4"]}
    section = {"folder": "data", "layout": "brats2023", "labels": "brats2023", "declares": AGREED, "split": lists}
    tables.mkdir()
    frame = made_frame(1)
    frame[3, "age"] = 150.0
    frame[7, "readmitted"] = ""
    frame.write_csv(tables / "stays.csv")
    return {
        "brain_tumor": (IMAGES, _config(images, "brain_tumor", section)),
        "clinical_risk": (made_study(), _config(tables, "clinical_risk", site_section("stays.csv"))),
    }


@pytest.mark.parametrize(
    ("kind", "kinds"),
    [
        ("brain_tumor", {"data_unreadable": 1}),
        ("clinical_risk", {"value_implausible": 1, "outcome_missing": 1}),
    ],
)
def test_what_is_shown_is_what_a_job_is_told_and_trains_on(
    hospitals: dict[str, tuple[Study, SiteConfig]], kind: str, kinds: dict[str, int]
) -> None:
    study, config = hospitals[kind]
    seen: list[tuple[str, int, int | None]] = []
    looked = inspect_site(study, config, progress=lambda *told: seen.append(told))
    assert looked.data is not None
    assert looked.record.usable
    assert looked.record.found.count_by_kind(Severity.WARNING) == kinds
    assert looked.record.counts["left_out"] == looked.record.left_out == sum(kinds.values())

    manifest = SiteTasks(study, config).prepare(Order(run="a-run")).manifest
    assert manifest is not None
    assert manifest.counts == looked.record.counts
    assert manifest.problems == kinds
    assert manifest.doubts == ({"label_empty": 1} if kind == "brain_tumor" else {})
    assert looked.data.steps_per_epoch(1) == manifest.counts["train_cases"]
    what, done, total = seen[-1]
    assert done == total == {"cases": 5, "rows": len(made_frame(1))}[what]

    (noted,) = last_inspections(config.state_folder)
    assert (noted.study, noted.usable, noted.counts) == (study.name, True, looked.record.counts)


def test_an_error_ends_prepare_with_its_code(tmp_path: Path) -> None:
    frame = made_frame(1).with_columns(age=200.0)
    frame.write_csv(tmp_path / "stays.csv")
    config = _config(tmp_path, "clinical_risk", site_section("stays.csv"))
    looked = inspect_site(made_study(), config).record
    (error,) = looked.found.errors
    assert (error.kind, error.where.column, looked.usable) == (Reason.VALUE_IMPLAUSIBLE, "age", False)
    assert error.expected == "0 to 120 a"
    with pytest.raises(WardroundError, match="values of age are not usable") as raised:
        SiteTasks(made_study(), config).prepare(Order(run="a-run"))
    assert raised.value.code is Reason.VALUE_IMPLAUSIBLE
    assert not last_inspections(config.state_folder)[0].usable


def test_data_that_cannot_be_opened_is_a_finding_with_its_parts(tmp_path: Path) -> None:
    config = _config(tmp_path, "clinical_risk", site_section("none.csv", patient="pesron"))
    looked = inspect_site(made_study(), config)
    assert looked.data is None
    assert looked.record.counts == {}
    (error,) = looked.record.findings
    assert (error.kind, error.found, error.where.file) == (
        Reason.DATA_MISSING,
        "no such file",
        str(tmp_path / "none.csv"),
    )
    assert "source.file" in error.advice
    assert not last_inspections(config.state_folder)[0].usable


@pytest.mark.parametrize(
    ("role", "split", "told"),
    [
        ("train", {"test_fraction": 1.0}, {"train": "error", "validation": "warning"}),
        ("train", {"test_fraction": 0.0}, {"test": "warning"}),
        ("evaluate", {"test_fraction": 1.0}, {}),
        ("evaluate", {"test_fraction": 0.0}, {"test": "error"}),
    ],
)
def test_a_split_without_cases_is_an_error_where_the_role_needs_it(
    tmp_path: Path, role: str, split: dict[str, float], told: dict[str, str]
) -> None:
    made_frame(1).write_csv(tmp_path / "stays.csv")
    config = _config(tmp_path, "clinical_risk", site_section("stays.csv", split=split), role=role)
    found = inspect_site(made_study(), config).record.found
    empty = {one.found.split()[1]: one.severity.value for one in found if one.found.startswith("no ")}
    assert empty == told


def test_a_device_and_a_folder_that_cannot_be_used_are_errors(tmp_path: Path) -> None:
    made_frame(1).write_csv(tmp_path / "stays.csv")
    (tmp_path / "a_file").write_text("")
    config = _config(
        tmp_path, "clinical_risk", site_section("stays.csv"), device="cuda:99", state_folder="a_file/state"
    )
    record = inspect_site(made_study(), config).record
    assert len(record.found.errors) == 2
    assert record.counts["train_cases"]  # and what there is to say of the data
    with pytest.raises(WardroundError, match=r"data\.clinical_risk: missing"):
        inspect_site(made_study(), config.model_copy(update={"data": {"brain_tumor": {}}}))


def test_images_that_are_not_the_studys_are_told_with_what_their_headers_tell(
    hospitals: dict[str, tuple[Study, SiteConfig]],
) -> None:
    study, config = hospitals["brain_tumor"]
    section = config.data["brain_tumor"]
    section["declares"] = AGREED | {"surgical_status": "mixed"}
    told = inspect_site(study, config).record.findings
    assert [(one.severity, one.kind) for one in told[:2]] == [
        (Severity.ERROR, Reason.CONTRACT_MISMATCH),
        (Severity.WARNING, Reason.DATA_UNREADABLE),
    ]
    section["folder"] = section["folder"] + "-elsewhere"
    told = inspect_site(study, config).record.findings
    assert [one.kind for one in told] == [Reason.DATA_MISSING, Reason.CONTRACT_MISMATCH]
