"""What FLARE sends is what the outbox says, and what cannot be written down is not sent."""

import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from nvflare.apis.event_type import EventType
from nvflare.apis.fl_constant import FLContextKey
from nvflare.apis.fl_context import FLContext
from nvflare.apis.shareable import Shareable
from nvflare.apis.signal import Signal
from nvflare.apis.utils.event import fire_event_to_components
from nvflare.app_common.abstract.fl_model import FLModel, ParamsType
from nvflare.app_common.utils.fl_model_utils import FLModelUtils
from nvflare.app_opt.pt.decomposers import TensorDecomposer
from nvflare.fuel.utils import fobs

from support.fake_workload import FakeWorkload, make_study
from support.loopback import site_executor
from wardround.flare import messages, outbox_hook
from wardround.flare.described import describe, sent_tensor
from wardround.flare.line_waits import ANSWER_SECONDS
from wardround.learners.initial import initial_shared_entries
from wardround.records.orders import Order, Reply
from wardround.records.outbox import FILE_NAME, OutboxLine
from wardround.records.reasons import Reason
from wardround.site.outbox import read_lines

STUDY = make_study(algorithm={"kind": "fedbn"})


class Site:
    """One executor between FLARE's events, in FLARE's order."""

    def __init__(self, folder: Path) -> None:
        self.executor, self.context = site_executor(folder, STUDY, "hospital-a", {"seed": 1})
        self.state = folder / "hospital-a" / "state"
        self._number = 0

    def ask(self, task: str, *, filters: Any = None, later: Any = None, **order: Any) -> Shareable:
        params = initial_shared_entries(FakeWorkload(), STUDY) if task != messages.PREPARE else None
        asked = FLModelUtils.to_shareable(
            FLModel(
                params=dict(params) if params else None,
                params_type=ParamsType.FULL if params else None,
                metrics=None if params else {},
                meta=messages.meta(Order(run="run", **order)),
            )
        )
        self._number += 1
        for key, value in ((FLContextKey.TASK_ID, f"task-{self._number}"), (FLContextKey.TASK_NAME, task)):
            self.context.set_prop(key, value, private=True, sticky=False)
        self._fire(EventType.BEFORE_TASK_EXECUTION, FLContextKey.TASK_DATA, asked)
        answer = self.executor.execute(task, asked, self.context, Signal())
        if filters is not None:
            answer = filters(answer)
        self._fire(EventType.AFTER_TASK_RESULT_FILTER, FLContextKey.TASK_RESULT, answer)
        if later is not None:
            later(answer)
        self._fire(EventType.BEFORE_SEND_TASK_RESULT, FLContextKey.TASK_RESULT, None)
        return answer

    def _fire(self, event: str, key: str, value: Any) -> None:
        self.context.set_prop(key, value, private=True, sticky=False)
        fire_event_to_components(event, [self.executor], self.context)
        self.context.set_prop(key, None, private=True, sticky=False)

    @property
    def lines(self) -> list[OutboxLine]:
        return list(read_lines(self.state))


@pytest.fixture
def site(tmp_path: Path) -> Site:
    fobs.register(TensorDecomposer)
    return Site(tmp_path)


def _sent(answer: Shareable) -> tuple[Reply, FLModel]:
    model = FLModelUtils.from_shareable(answer)
    return Reply.model_validate(model.meta[messages.KEY]), model


def test_a_line_holds_the_whole_reply_and_each_entry_by_what_it_is(site: Site) -> None:
    site.ask(messages.PREPARE)
    answer = site.ask(messages.TRAIN, round=2, model_round=2)
    reply, model = _sent(answer)
    prepared, line = site.lines
    assert prepared.reply is not None
    assert prepared.reply["manifest"]["site"] == "hospital-a"
    assert (line.site, line.run, line.job, line.task, line.task_id, line.round) == (
        *("hospital-a", "run", "job", "train", "task-2"),
        2,
    )
    assert Reply.model_validate(line.reply) == reply
    assert line.metrics == model.metrics
    assert (line.kind, line.code, line.other) == ("WEIGHT_DIFF", "OK", {})
    assert line.meta == {"NUM_STEPS_CURRENT_ROUND": 4}
    assert [one.name for one in line.weights] == list(model.params)
    for one in line.weights:
        tensor = model.params[one.name]
        assert (one.dtype, one.shape) == ("float32", list(tensor.shape))
        assert one.norm == pytest.approx(float(tensor.norm()), rel=1e-5)
        assert one.sha256 == hashlib.sha256(tensor.numpy().tobytes()).hexdigest()


def test_what_a_filter_changed_or_put_in_is_what_is_written(site: Site) -> None:
    def filtered(answer: Shareable) -> Shareable:
        model = FLModelUtils.from_shareable(answer)
        model.params = {name: np.zeros(2, np.float16) for name in model.params}
        model.meta["word"] = {"a": [1, float("nan"), b"xy"]}
        return FLModelUtils.to_shareable(model)

    site.ask(messages.TRAIN, filters=filtered)
    (line,) = site.lines
    assert {(one.dtype, tuple(one.shape), one.norm) for one in line.weights} == {("float16", (2,), 0.0)}
    assert line.meta["word"] == {"a": [1, "nan", {"bytes": 2, "sha256": hashlib.sha256(b"xy").hexdigest()}]}


def test_a_failure_is_a_line_too(site: Site) -> None:
    site.ask("unheard_of")
    (line,) = site.lines
    assert line.reply is not None
    assert line.reply["error"] == "site_failed"


def test_flares_own_answer_is_a_line_of_its_code_alone(site: Site) -> None:
    site.ask(messages.TRAIN, filters=lambda _answer: None)  # as where a filter raised: the event holds no message
    (line,) = site.lines
    assert (line.code, line.reply, line.weights, line.task, line.round) == ("FLARE", None, [], "train", 0)


@pytest.mark.parametrize("task", [messages.PREPARE, messages.TRAIN])
def test_nothing_but_a_code_leaves_where_the_outbox_cannot_be_written(
    site: Site, monkeypatch: pytest.MonkeyPatch, task: str
) -> None:
    def full(*_: Any) -> None:
        raise OSError("No space left on device: /data/patient-0042")

    monkeypatch.setattr(outbox_hook, "write_line", full)
    answer = site.ask(task)
    reply, model = _sent(answer)
    assert reply == Reply(error=Reason.OUTBOX_FAILED)
    assert not model.params
    assert b"patient" not in fobs.dumps(answer)
    assert "patient-0042" in (site.state / "site.log").read_text()


@pytest.mark.parametrize("place", ["/dev/full", "/dev/null", "pipe", "folder"])
def test_nothing_leaves_where_the_outbox_keeps_nothing(site: Site, place: str) -> None:
    site.ask(messages.PREPARE)
    outbox = site.state / "outbox.jsonl"
    outbox.unlink()
    if place == "pipe":
        os.mkfifo(outbox)
    elif place == "folder":
        outbox.mkdir()
    else:
        outbox.symlink_to(place)
    reply, model = _sent(site.ask(messages.TRAIN, round=0))
    assert reply == Reply(error=Reason.OUTBOX_FAILED)
    assert not model.params


def test_nothing_leaves_that_was_changed_after_it_was_written_down(site: Site) -> None:
    def later(answer: Shareable) -> None:
        answer["DXO"]["data"]["first.weight"].add_(1)

    reply, model = _sent(site.ask(messages.TRAIN, later=later))
    assert reply.error is Reason.OUTBOX_FAILED
    assert not model.params


def test_headers_that_flare_adds_are_no_change(site: Site) -> None:
    answer = site.ask(messages.PREPARE, later=lambda answer: answer.set_header("__task_id__", "task-1"))
    assert _sent(answer)[0].manifest is not None


def test_without_a_usable_site_yaml_the_line_is_in_the_run_folder(tmp_path: Path) -> None:
    site = Site(tmp_path)
    (tmp_path / "hospital-a" / "local" / "site.yaml").write_text("name: [")
    reply, _ = _sent(site.ask(messages.PREPARE))
    assert reply.error is Reason.CONFIGURATION_INVALID
    run_folder = Path(site.context.get_workspace().get_run_dir("job"))
    assert [line.reply for line in read_lines(run_folder)] == [reply.model_dump(mode="json")]
    assert not (site.state / FILE_NAME).exists()


@pytest.mark.parametrize(
    "array",
    [torch.tensor(3), torch.ones(2, 0), torch.ones(2, dtype=torch.bfloat16), torch.tensor([1 + 1j]), np.float32(2)],
)
def test_any_array_can_be_told(array: Any) -> None:
    assert len(sent_tensor("name", array).sha256) == 64


def test_a_message_of_another_kind_is_told_whole() -> None:
    message = Shareable({"numbers": [1, 2], "object": object()})
    message.set_header("cookie", {"a": 1})
    told = describe(message)
    assert told["other"] == {"numbers": [1, 2], "object": {"type": "builtins.object"}}
    assert told["headers"]["cookie"] == {"a": 1}


def test_events_are_heard_by_the_component_itself_beside_the_hook(tmp_path: Path) -> None:
    site = Site(tmp_path)
    context: FLContext = site.context
    fire_event_to_components(EventType.START_RUN, [site.executor], context)
    assert (Path(context.get_workspace().get_run_dir("job")) / "site.log").is_file()
    assert context.get_engine().client.communicator.timeout == ANSWER_SECONDS
