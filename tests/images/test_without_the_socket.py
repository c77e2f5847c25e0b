"""The same federation with no engine's socket in any container: FLARE starts jobs as processes of the site's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.containers import HOSPITALS, PARENTS, Federation, image, inspected, run_study, shell_with_studies
from support.documentation import blocks_under
from wardround.records.run_lines import EndLine, read_lines

pytestmark = pytest.mark.images


PROVISION = blocks_under("docs/containers.md", "A federation on one machine")[0]
(START,) = blocks_under("docs/containers.md", "Without a socket")


@pytest.fixture(scope="module")
def federation(shared_folder: Path) -> Iterator[Federation]:
    """Made and started by the documentation's commands."""
    shell = shell_with_studies(shared_folder, {"SERVER_PORT": "0"})
    settings = {"JOB_IMAGE": image("tabular"), "KITS": str(shared_folder / "kits-process")}
    made = Federation(shared_folder, "compose.process.yaml", settings)
    try:
        shell.run(PROVISION)
        shell.run(START)
        yield made
    finally:
        made.compose("down", expect=None)


def test_a_study_runs_to_its_end(federation: Federation) -> None:
    run_study(federation)
    end = read_lines(federation.folder / "results" / "first" / "run.jsonl")[-1]
    assert isinstance(end, EndLine)
    assert end.status == "complete"


def test_no_container_has_the_socket(federation: Federation) -> None:
    for name in PARENTS:
        mounts = inspected(federation.container(name))["Mounts"]
        assert not any("docker.sock" in mount["Source"] or "docker.sock" in mount["Destination"] for mount in mounts)


def test_what_it_gives_up_a_parent_reaches_its_own_patients_and_no_others(federation: Federation) -> None:
    for name in HOSPITALS:
        folder = federation.data / "clinical_risk"
        listed = federation.compose("exec", "--no-TTY", name, "sh", "-c", f"ls {folder} {folder}/*/data")
        assert "stays.csv" in listed
        assert [other for other in HOSPITALS if other in listed.split(":")[1].split()] == [name]
