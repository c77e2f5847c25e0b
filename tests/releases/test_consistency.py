"""What a release says rests on a record, a manifest and a model that belong together."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from support.made_release import BEST_ROUND, LAST_ROUND, checkpoint, run_folder, run_lines
from wardround.cli.write_manifest import write_run_manifest
from wardround.learners.checkpoint import Checkpoint, load_checkpoint, save_checkpoint, weights_sha256
from wardround.records.changed import changed
from wardround.records.manifest import FILE_NAME
from wardround.records.reasons import Reason, WardroundError
from wardround.records.run_lines import EndLine, ResumeLine
from wardround.records.study import settings_digest
from wardround.releases.candidate import candidate


def edited(file: Path, before: str, after: str) -> str:
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))
    return text


def refused(run: Path, model_round: int | None = None) -> str:
    with pytest.raises(WardroundError) as caught:
        candidate(run, model_round)
    assert caught.value.code is Reason.DATA_UNREADABLE
    return str(caught.value)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"dice_mean":0.6', '"dice_mean":0.1'),  # a criterion
        ('"interval":[0.79,', '"interval":[0.89,'),  # a figure
        (f'"best_round":{BEST_ROUND}', '"best_round":2'),
    ],
)
def test_a_record_that_was_edited_after_the_run_is_refused(run: Path, before: str, after: str) -> None:
    edited(run / "run.jsonl", before, after)
    told = refused(run)
    assert told.startswith(f"{run / 'run.jsonl'}: its SHA-256: expected ")
    assert f"as in {run / FILE_NAME}, found " in told
    assert "copy the run's whole folder again" in told


def test_half_a_record_is_refused(run: Path) -> None:
    record = run / "run.jsonl"
    record.write_bytes(record.read_bytes()[:5000])
    assert "run.jsonl: its SHA-256" in refused(run)


def test_criteria_that_were_edited_before_the_manifest_was_made_are_not_those_of_the_study(run: Path) -> None:
    edited(run / "run.jsonl", '"dice_mean":0.6', '"dice_mean":0.1')
    write_run_manifest(run)
    assert "run.jsonl: the SHA-256 of the start line's study: expected" in refused(run)


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("study", lambda _: "another_study"),
        ("run", lambda _: "20260101-999999"),
        ("study_sha256", lambda _: "e" * 64),
        ("contract_sha256", lambda _: "other"),
        ("acceptance.worst_site.dice_mean", lambda told: {**told, "worst_site": {"dice_mean": 0.1}}),
        ("settings.seed", lambda told: {**told, "seed": 7}),
        ("versions.torch", lambda _: {"torch": "1.0"}),
        ("sites", lambda told: told[1:]),
    ],
)
def test_a_manifest_that_says_another_thing_than_the_record_is_refused(
    run: Path, key: str, change: Callable[[object], object]
) -> None:
    file = run / FILE_NAME
    told = json.loads(file.read_text())
    name = key.partition(".")[0]
    file.write_text(json.dumps({**told, name: change(told[name])}))
    assert refused(run).startswith(f"{file}: {key}: expected ")


def test_a_manifest_cannot_name_a_folder_in_place_of_a_study(run: Path) -> None:
    edited(run / FILE_NAME, '"study": "brain_tumor"', '"study": "../../../evil"')
    assert "manifest.json: not a run's manifest (study: " in refused(run)


@pytest.mark.parametrize(("arm", "model_round"), [("best", BEST_ROUND), ("last", LAST_ROUND)])
def test_weights_that_the_record_does_not_name_are_of_another_run_though_study_and_round_fit(
    run: Path, arm: str, model_round: int
) -> None:
    """As of a second run of the same study, put in place of the first one's model."""
    made = load_checkpoint(run / "models" / arm)
    tensors = {name: tensor + 1 for name, tensor in made.tensors.items()}
    card = changed(made.card, weights_sha256=weights_sha256(tensors))
    save_checkpoint(run / "models" / arm, Checkpoint(tensors, card))
    (run / FILE_NAME).unlink()
    write_run_manifest(run)
    told = refused(run, model_round)
    assert f"{arm}.safetensors: weights_sha256: expected" in told
    assert "the model of another run" in told


def test_a_model_of_another_study_is_refused(run: Path) -> None:
    save_checkpoint(run / "models" / "best", checkpoint(BEST_ROUND, "e" * 64))
    write_run_manifest(run)
    assert "best.safetensors: study_digest: expected" in refused(run)


def test_a_run_that_went_on_with_another_quorum_is_released(tmp_path: Path) -> None:
    lines = run_lines()
    start = lines[0]
    study = {**start.study, "federation": {"quorum": 3}}
    goes_on = ResumeLine(
        time="2026-01-02T08:30:00+00:00",
        round=2,
        because="it was stopped",
        sites=start.sites,
        changed={"federation.quorum": (3, 2)},
    )
    first = start.model_copy(update={"study": study, "study_digest": settings_digest(study)})
    assert candidate(run_folder(tmp_path / "on", [first, *lines[1:3], goes_on, *lines[3:]])).arm == "best"


def test_a_folder_that_an_earlier_version_wrote_is_refused_with_what_to_do(run: Path) -> None:
    told = json.loads((run / FILE_NAME).read_text())
    told.pop("record_sha256")
    (run / FILE_NAME).write_text(json.dumps(told))
    assert "`wardround report` writes it anew" in refused(run)
    (run / FILE_NAME).unlink()
    lines = (run / "run.jsonl").read_text().splitlines()
    end = json.loads(lines[-1])
    assert end.pop("best_weights_sha256")
    EndLine.model_validate(end)
    (run / "run.jsonl").write_text("\n".join([*lines[:-1], json.dumps(end)]) + "\n")
    write_run_manifest(run)
    assert "run the study again" in refused(run)
