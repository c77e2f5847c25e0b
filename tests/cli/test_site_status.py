"""`wardround site status`: text and page, before and after a site has done anything."""

import shutil
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from support.looks import a_look
from support.provisioned import CONFIGS
from wardround.cli.main import app
from wardround.flare.install import install_folder
from wardround.flare.parent import CLIENT_MODULE
from wardround.flare.standing_process import standing_process
from wardround.records.metric_record import MetricRecord
from wardround.records.orders import Order, Reply
from wardround.records.reasons import Reason
from wardround.records.site_status import LastInspection
from wardround.site.answers import note_answer
from wardround.site.inspection_record import note_inspection
from wardround.site.shared_look import keep_look


@pytest.fixture
def kit(kits: Path, tmp_path: Path) -> Path:
    source = Path(shutil.copytree(CONFIGS / "hospital-a", tmp_path / "own"))
    settings = yaml.safe_load((source / "site.yaml").read_text())
    (source / "site.yaml").write_text(yaml.safe_dump({**settings, "state_folder": "state"}))
    folder = Path(shutil.copytree(kits / "hospital-a", tmp_path / "hospital-a"))
    install_folder(folder, source)
    return folder


def _status(kit: Path, *more: str) -> str:
    done = CliRunner().invoke(app, ["site", "status", str(kit), *more])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_nothing_has_run_yet(kit: Path) -> None:
    text = _status(kit)
    for line in (
        "site         hospital-a\n",
        "connection   never started here\n",
        "certificate  hospital-a of hospital_a, root wardround, expires in",
        "training     at any time\n",
        "data         not inspected here yet",
        "runs         this site has not answered a job yet\n",
    ):
        assert line in text


def test_a_site_whose_process_is_gone_without_a_word_is_told(kit: Path) -> None:
    """As FLARE's own stop script, or a kill, leaves it."""
    line = (
        "2030-01-02 03:04:05,123 - FederatedClient - INFO - Successfully registered client:hospital-a for project x.\n"
    )
    (kit / "log.txt").write_text(line)
    assert (
        "connection   no process of this kit runs here, unless in a container; the last word of its log: reg"
        in _status(kit)
    )
    link = kit.with_name("link")  # by which the start script may know the kit
    link.symlink_to(kit)
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", CLIENT_MODULE, "-m", str(link)])
    try:
        deadline = time.monotonic() + 20
        while standing_process(kit) is None and time.monotonic() < deadline:
            time.sleep(0.05)
        assert "connection   registered with the server since 2030-01-0" in _status(kit)
    finally:
        process.kill()
        process.wait()
    (kit / "log.txt").write_text(line + "2030-01-02 03:05:05,123 - FederatedClient - INFO - Good Bye!\n")
    assert "connection   stopped since 2030-01-0" in _status(kit)


def test_runs_rounds_and_inspections_are_shown_and_written_as_a_page(kit: Path, tmp_path: Path) -> None:
    state = tmp_path / "own" / "state"
    for number in (0, 1):
        records = [MetricRecord(name="dice_mean", value=0.25 + number / 4, n=4)]
        note_answer(state, "job-7", "train", Order(run="a-run", round=number), Reply(records=records))
    note_answer(state, "job-6", "validate", Order(run="b-run", round=2, arm="best"), Reply())
    note_answer(state, "job-7", "train", Order(run="a-run", round=2), Reply(error=Reason.OUT_OF_MEMORY))
    note_inspection(state, LastInspection("2030-01-01T00:00:00+00:00", "brain_tumor", True, {"train_cases": 6}, 1))
    look = keep_look(state, a_look("brain_tumor"))
    page = tmp_path / "pages" / "status.html"
    text = _status(kit, "--html", str(page))
    assert "data         brain_tumor: usable, 6 train cases; 1 left out; inspected 2030-01-01 00:00:00 UTC\n" in text
    assert "run          a-run, job job-7: train, round 3, " in text
    assert "with an error: out_of_memory\n" in text
    assert "run          b-run, job job-6: score best, 2" in text
    assert "  round 1     dice_mean 0.250\n  round 2     dice_mean 0.500\n  round 3     out_of_memory\n" in text
    assert f"shared       brain_tumor v2, look of 2030-01-31: leaves with every job until rm {look}\n" in text
    assert text.endswith(f"{page}\n")
    html = page.read_text()
    assert page.stat().st_mode & 0o077 == 0
    for part in ("<h1>hospital-a</h1>", "job-7", "<td>0.500</td>", "out_of_memory", "6 train cases", str(look)):
        assert part in html
    assert html.count("<table>") == html.count('<div class="scroll"><table>') > 2  # a wide table scrolls, not the page
    seen = _Tags()
    seen.feed(html)
    assert not seen.names & {"script", "img", "link", "iframe"}


def test_another_kit_is_exit_code_2(kits: Path) -> None:
    done = CliRunner().invoke(app, ["site", "status", str(kits / "server")])
    assert done.exit_code == 2
    assert "the kit of a server; expected a site's" in done.output


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.names.add(tag)
