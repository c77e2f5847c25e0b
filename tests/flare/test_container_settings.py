"""study_runtime.yaml and docker.yaml: told by file and key where FLARE could not use them."""

from pathlib import Path

import pytest

from support.provisioned import CONFIGS, edit
from wardround import __version__
from wardround.flare.container_settings import image_digest, job_images, parent_image, read_study_runtime
from wardround.records.reasons import WardroundError


def test_the_shipped_files_name_images_and_folders_in_full() -> None:
    file = CONFIGS / "hospital-a" / "study_runtime.yaml"
    sources = read_study_runtime(file)["studies"]["clinical_risk"]["datasets"]
    assert sources["data"]["source"] == str(CONFIGS.parent / "demo" / "clinical_risk" / "hospital-a" / "data")
    assert job_images(file) == [f"wardround/{target}:{__version__}" for target in ("imaging", "tabular")]
    assert parent_image(file.with_name("docker.yaml")) == f"wardround/parent:{__version__}"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("format_version: 2\nstudies: {a: {datasets: {data: {}}}}\n", "studies.a.datasets.data.source must be"),
        ("format_version: 2\nstudies: {a: {datasets: {data: null}}}\n", "studies.a.datasets.data must be a mapping"),
        ("format_version: 2\nstudies: {a: {container: {}}}\n", "studies.a.container.image must be"),
        ("format_version: 2\nstudies: [a]\n", "studies must be a mapping"),
        ("studies: {}\n", "format_version must be 2"),
        ("format_version: 2\nformat_version: 2\n", "key format_version is there twice"),
    ],
)
def test_what_flare_would_refuse_is_told_by_its_key(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "study_runtime.yaml"
    file.write_text(text)
    for read in (read_study_runtime, job_images):
        with pytest.raises(WardroundError, match=told):
            read(file)


def test_a_file_without_studies_has_no_image(tmp_path: Path) -> None:
    file = tmp_path / "study_runtime.yaml"
    file.write_text("format_version: 2\nstudies:\n")
    assert job_images(file) == []


def test_a_parent_without_an_image_is_told(tmp_path: Path) -> None:
    file = tmp_path / "docker.yaml"
    file.write_bytes((CONFIGS / "hospital-a" / "docker.yaml").read_bytes())
    edit(file, "docker_image", "image")
    with pytest.raises(WardroundError, match=r"docker\.yaml: parent\.docker_image: missing"):
        parent_image(file)


@pytest.mark.parametrize(
    ("image", "digest"),
    [
        (f"sha256:{'a' * 64}", f"sha256:{'a' * 64}"),
        (f"registry:5000/wardround/tabular@sha256:{'a' * 64}", f"sha256:{'a' * 64}"),
        ("wardround/tabular:0.1.0", None),
        (f"wardround/sha256:{'a' * 64}", None),  # a tag that looks like one
        (f"wardround/tabular@sha256:{'a' * 63}", None),
    ],
)
def test_an_images_digest_is_in_its_name_or_unknown(image: str, digest: str | None) -> None:
    assert image_digest(image) == digest


def test_a_digest_that_the_file_tells_itself_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "study_runtime.yaml"
    file.write_text(
        "format_version: 2\nstudies: {x: {container: {image: a}, env: {WARDROUND_IMAGE_DIGEST: sha256:b}}}\n"
    )
    with pytest.raises(WardroundError, match=r"studies\.x\.env\.WARDROUND_IMAGE_DIGEST"):
        read_study_runtime(file)
