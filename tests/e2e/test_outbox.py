"""Both workloads through real FLARE processes: what arrives at the server is what each outbox says, line by line.

A job's own filter changes the weights of one of the studies behind everything that is ours.
"""

import hashlib
import json
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from e2e.conftest import tiny_study
from wardround.flare import policy
from wardround.flare.environments import run_study
from wardround.flare.recipe import StudyRecipe
from wardround.records.outbox import OutboxLine
from wardround.records.run_lines import EndLine, read_lines
from wardround.records.study import Study, load_study
from wardround.site.outbox import read_lines as read_outbox
from wardround.workloads.clinical_risk.synth.writer import write_hospitals as write_tables

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
TAP = ROOT / "tests" / "support" / "wire_tap"
KEY = "wardround"
# what FLARE adds between the outbox and the wire: ids of the message, and who sends it in which job
ADDED = {"__peer_ctx__", "__msg_root_id__", "__peer_fl_context__", "__peer_props__", "__audit_event_id__"}
SVT = "nvflare.app_common.filters.svt_privacy.SVTPrivacy"
FILTER = {"tasks": ["train"], "filters": [{"path": SVT, "args": {"fraction": 0.9}}]}


@dataclass
class Tapped:
    """A run, what arrived, what the sites' job processes sent, and what their outboxes say."""

    status: str
    arrived: list[dict[str, Any]]
    frames: bytes
    outboxes: dict[str, list[OutboxLine]]
    patients: list[str]

    def line(self, message: dict[str, Any]) -> OutboxLine:
        """The line of a message, by FLARE's id of the task."""
        headers = message["headers"]
        (line,) = [line for line in self.outboxes[message["site"]] if line.task_id and line.task_id in str(headers)]
        return line


def _tapped(study: Study, sites: list[Path], folder: Path, patients: list[str]) -> Tapped:
    wire, out = folder / "wire", folder / "out"
    wire.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(TAP))
        patch.setenv("WARDROUND_TEST_WIRE", str(wire))
        record = run_study(
            Path("study"), study, environment="sim", sites=sites, out=out, on_line=lambda _: None, run_name="tapped"
        )
    (end,) = [line for line in read_lines(record) if isinstance(line, EndLine)]
    return Tapped(
        end.status,
        [pickle.loads(file.read_bytes()) for file in sorted(wire.glob("*.received"))],
        b"".join(file.read_bytes() for file in wire.glob("*.sent")),
        {file.parent.name: list(read_outbox(file.parent / "state")) for file in sites},
        patients,
    )


def _with_filter(patch: pytest.MonkeyPatch) -> None:
    """The sites list the filter's class, and the job has it."""
    patch.setattr(policy, "SITE_CLASSES", (*policy.SITE_CLASSES, SVT))
    export = StudyRecipe.export

    def exported(self: StudyRecipe, folder: str, **options: Any) -> None:
        export(self, folder, **options)
        for file in Path(folder).rglob("config_fed_client.json"):
            config = json.loads(file.read_text())
            file.write_text(json.dumps({**config, "task_result_filters": [FILTER]}))

    patch.setattr(StudyRecipe, "export", exported)


@pytest.fixture(scope="module", params=["brain_tumor", "clinical_risk"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tapped]:
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "brain_tumor":
        from wardround.workloads.brain_tumor.synth.writer import CaseCounts, write_hospitals

        sites = write_hospitals(folder / "sites", hospitals=3, size=24, cases=CaseCounts(3, 2, 2), seed=1)
        study = tiny_study(training={"rounds": 2, "local_steps": 2, "learning_rate": 0.01})
        with pytest.MonkeyPatch.context() as patch:
            _with_filter(patch)
            yield _tapped(study, sites, folder, ["BraTS-SYN-", "t1c.nii", "seg.nii"])
    else:
        sites = write_tables(folder / "sites", rows=300, seed=2)
        changes = ["training.rounds=2", "evaluation.personalise_steps=5"]
        study = load_study(ROOT / "jobs" / "clinical_risk" / "job.yaml", changes)
        yield _tapped(study, sites, folder, ["A0000", "B0000", "stays.csv"])


def test_every_task_is_there(run: Tapped) -> None:
    assert run.status in {"complete", "partial"}
    for lines in run.outboxes.values():
        assert {line.task for line in lines} >= {"prepare", "validate"}
        assert {line.arm for line in lines if line.task == "validate"} >= {"best", "last"}
    trained = [line for lines in run.outboxes.values() for line in lines if line.task == "train"]
    assert {line.round for line in trained} == {0, 1}
    assert {line.arm for line in run.outboxes["hospital-a"]} >= {"personalised"}
    assert all(line.weights for line in trained)
    assert all(line.study and line.run == "tapped" and line.job for lines in run.outboxes.values() for line in lines)


def test_each_message_that_arrived_is_a_line_and_each_line_arrived(run: Tapped) -> None:
    lines = [line.task_id for lines in run.outboxes.values() for line in lines]
    assert len(lines) == len(set(lines)) == len(run.arrived) > 0
    assert sorted(run.line(message).task_id for message in run.arrived) == sorted(lines)


def test_every_number_and_word_that_arrived_is_in_the_line(run: Tapped) -> None:
    for message in run.arrived:
        line = run.line(message)
        assert set(message["content"]) == {"DXO"}
        content = message["content"]["DXO"]
        assert set(content) == {"kind", "data", "meta"}
        meta, data = dict(content["meta"]), dict(content["data"])
        metrics = meta.pop("initial_metrics", {})
        arrays = {name: data.pop(name) for name in list(data) if isinstance(data[name], np.ndarray | torch.Tensor)}
        assert str(getattr(content["kind"], "value", content["kind"])) == line.kind
        assert json.loads(json.dumps(meta.pop(KEY))) == line.reply
        assert json.loads(json.dumps({**metrics, **data})) == line.metrics
        assert json.loads(json.dumps(meta)) == line.meta
        assert line.other == {}
        assert [one.name for one in line.weights] == list(arrays)


def test_every_weight_that_arrived_has_the_shape_norm_and_hash_of_the_line(run: Tapped) -> None:
    seen = 0
    for message in run.arrived:
        data = message["content"]["DXO"]["data"]
        for one in run.line(message).weights:
            array = np.asarray(data[one.name])
            assert (one.dtype, one.shape) == (str(array.dtype), list(array.shape))
            assert one.sha256 == hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
            assert one.norm == pytest.approx(float(np.linalg.norm(array.astype(np.float64).ravel())))
            seen += 1
    assert seen > 10


def test_headers_that_arrived_are_those_of_the_line_and_flares_own_ids(run: Tapped) -> None:
    for message in run.arrived:
        own = run.line(message).headers
        later = {name for name in message["headers"] if name not in own}
        assert later <= ADDED | {"__cookie_jar__", "__task_name__", "__task_id__", "task_name", "fl_client"}, later
        text = json.dumps({**message["headers"], **{key: str(value) for key, value in message["public"].items()}})
        assert not [word for word in run.patients if word in text]


def test_no_patient_and_no_file_is_in_any_byte_that_a_sites_job_sent(run: Tapped) -> None:
    assert b"prepare" in run.frames or b"train" in run.frames  # the bytes are those of the messages
    assert KEY.encode() in run.frames
    assert [word for word in run.patients if word.encode() in run.frames] == []


def test_a_filter_of_the_job_is_written_down_with_what_it_did(run: Tapped) -> None:
    filtered = [line for lines in run.outboxes.values() for line in lines if "filter_history" in line.meta]
    trained = [line for lines in run.outboxes.values() for line in lines if line.task == "train"]
    assert filtered == (trained if filtered else [])
    assert filtered or trained[0].study == "clinical_risk"
