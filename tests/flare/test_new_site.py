"""A new hospital's folder: valid, installable, and never written over an admin's work."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from nvflare.app_opt.job_launcher.study_runtime import load_study_runtime_file
from pydantic import ValidationError

from support.provisioned import provision
from wardround.flare.install import install_folder
from wardround.flare.new_site import NewSite, new_site_texts, write_new_site
from wardround.records.reasons import WardroundError
from wardround.site.config import load_site_config
from wardround.workloads.brain_tumor.settings import BrainTumorSiteSettings

BOTH = {"brain_tumor": "/srv/images: new", "clinical_risk": "tables/stays.parquet"}


def test_the_folder_is_valid_and_installs(tmp_path: Path) -> None:
    folder = tmp_path / "hospital-a"
    site = NewSite("hospital-a", "hospital_a", BOTH, device="cuda", gpus=2, gpu_memory=40, state="/srv/state # here")
    files = write_new_site(folder, site)
    assert sorted(files) == sorted(folder.iterdir())
    config = load_site_config(folder / "site.yaml")
    assert config.data["brain_tumor"]["folder"] == "/srv/images: new"
    assert config.data["clinical_risk"]["source"] == {"kind": "parquet", "file": str(folder / "tables/stays.parquet")}
    assert (config.device, config.synthetic, config.state_folder) == ("cuda", False, Path("/srv/state # here"))
    runtime = load_study_runtime_file(str(folder / "study_runtime.yaml"), launcher_mode="docker")
    assert {mount.source for mount in runtime["clinical_risk"].datasets} == {"tables", "/srv/state # here", "cache"}
    assert json.loads((folder / "resources.json").read_text())["components"][0]["args"]["num_of_gpus"] == 2
    assert yaml.safe_load((folder / "participant.yml").read_text())["participants"][0]["org"] == "hospital_a"
    kit = Path(shutil.copytree(provision(tmp_path / "kits") / "hospital-a", tmp_path / "kit"))
    assert len(install_folder(kit, folder)) == 5


def test_what_only_the_hospital_can_say_is_left_open() -> None:
    site = NewSite("hospital-a", "hospital_a", BOTH)
    data = yaml.safe_load(new_site_texts(site)["site.yaml"])["data"]
    images = data["brain_tumor"]
    assert [images["layout"], images["labels"], *images["declares"].values()] == [None] * 5
    assert data["clinical_risk"]["known_at_index"] is False
    with pytest.raises(ValidationError, match="labels"):
        BrainTumorSiteSettings.model_validate(images)
    generated = yaml.safe_load(new_site_texts(replace(site, generated=True))["site.yaml"])["data"]
    assert BrainTumorSiteSettings.model_validate(generated["brain_tumor"]).labels == "brats2023"
    assert generated["clinical_risk"]["known_at_index"] is True


def test_nothing_is_overwritten_unless_forced(tmp_path: Path) -> None:
    (tmp_path / "privacy.json").write_text("mine")
    site = NewSite("hospital-a", "hospital_a", BOTH)
    with pytest.raises(WardroundError, match=r"privacy\.json: there already"):
        write_new_site(tmp_path, site)
    assert [file.name for file in tmp_path.iterdir()] == ["privacy.json"]
    write_new_site(tmp_path, site, force=True)
    assert (tmp_path / "privacy.json").read_text() == new_site_texts(site)["privacy.json"]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"name": "a hospital"}, "name: 'a hospital': expected letters"),
        ({"name": "-a"}, r"new/site\.yaml: name: "),
        ({"data": {"wound_care": "/srv"}}, "data: 'wound_care': no section of that kind.*brain_tumor, clinical_risk$"),
        ({"device": "gpu"}, "device"),
    ],
)
def test_what_would_not_be_valid_is_not_written(tmp_path: Path, changes: dict[str, str], text: str) -> None:
    settings = {"name": "hospital-a", "org": "hospital_a", "data": BOTH, **changes}
    with pytest.raises(WardroundError, match=text):
        write_new_site(tmp_path / "new", NewSite(**settings))
    assert list(tmp_path.iterdir()) == []


def test_another_image_can_be_named() -> None:
    texts = new_site_texts(
        NewSite("a", "a", {"brain_tumor": "/x"}, images={"brain_tumor": "r/i@sha256:1"}, parent_image="p")
    )
    assert yaml.safe_load(texts["study_runtime.yaml"])["studies"]["brain_tumor"]["container"]["image"] == "r/i@sha256:1"
    assert yaml.safe_load(texts["docker.yaml"])["parent"]["docker_image"] == "p"


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"name": "../evil"}, "name: '../evil': expected letters, digits, - and _"),
        ({"name": "a.b"}, "name: 'a.b'"),
        ({"name": "Server"}, "not 'server'"),
        ({"name": "a" * 300}, "at most 63"),
        ({"org": "a b; c"}, "org: 'a b; c': expected letters, digits and _"),
        ({"images": {"readmission": "x"}}, "image: readmission: the site has no data of that kind"),
        ({"gpu_memory": 40}, "gpu_memory: 40 GiB of no GPU"),
        ({"state": " "}, "state: empty"),
        ({"state": "/srv/cache/state", "cache": "/srv/cache"}, "site.yaml: state_folder: .* lies in cache_folder"),
        ({"state": "/srv/same", "cache": "/srv/same"}, "keep them apart"),
    ],
)
def test_what_would_not_work_later_is_refused_and_leaves_nothing(
    tmp_path: Path, changes: dict[str, Any], text: str
) -> None:
    answers: dict[str, Any] = {"name": "hospital-e", "org": "hospital_e", "data": BOTH, **changes}
    with pytest.raises(WardroundError, match=text):
        write_new_site(tmp_path / "new" / "folder", NewSite(**answers))
    assert list(tmp_path.iterdir()) == []
