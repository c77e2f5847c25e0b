"""Writes a signed release: a folder that appears whole or not at all, and is never overwritten."""

import os
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from wardround.records.codes import RELEASE_VERSION
from wardround.records.files import name_file, sync_folder
from wardround.records.input_statistics import FILE_NAME
from wardround.records.reasons import Reason, WardroundError
from wardround.releases.candidate import Candidate
from wardround.releases.checksums import LIST, SIGNATURE, checksums
from wardround.releases.facts import FACTS, ReleaseFacts
from wardround.releases.history import keep_history, locked, point_forward, read_history
from wardround.releases.input_statistics import input_statistics
from wardround.releases.signature import PrivateKey, fingerprint, sign
from wardround.reporting.model_card import card_markdown, make_card

_NUMBERED = re.compile(r"^v(\d+)$")


def make_release(
    chosen: Candidate, releases: Path, key: PrivateKey, *, approver: str, version: str | None = None
) -> Path:
    """Writes `releases/<study>/<version>`, makes it the study's current release, and returns the folder.

    Args:
        chosen: a model that meets its criteria.
        releases: the folder of all studies' releases.
        key: signs the list of checksums.
        approver: the person who answers for the release.
        version: by default v1, v2 and so on.

    Raises:
        WardroundError: the model does not meet its criteria, the version is there already or is no name, or the
            study's history is damaged.
    """
    if not chosen.outcome.met:
        raise WardroundError(Reason.CONFIGURATION_INVALID, f"{chosen.folder}: does not meet the study's criteria")
    study = releases / chosen.manifest.study
    with locked(study):
        history = read_history(study)  # before anything is written: where it is damaged there is no new release
        name = version or _next(study)
        if not re.fullmatch(RELEASE_VERSION, name):
            raise WardroundError(
                Reason.CONFIGURATION_INVALID, f"--version {name}: expected letters, digits, '.', '_' and '-'"
            )
        target = study / name
        if target.exists() or target.is_symlink():
            raise WardroundError(
                Reason.CONFIGURATION_INVALID, f"{target}: is there already, and releases are never overwritten"
            )
        keep_history(study, history)
        why = f"released from run {chosen.summary.study.run}"
        try:
            with _whole_folder(target) as folder:
                _fill(folder, chosen, key, approver=approver.strip(), version=name)
            point_forward(study, history, name, who=approver.strip(), why=why)
        except BaseException:  # a full disk, or Ctrl-C: a release that no history knows is none
            if not _is_current(study, name):
                shutil.rmtree(target, ignore_errors=True)
            raise
    return target


def _is_current(study: Path, name: str) -> bool:
    try:
        return read_history(study).current == name
    except (WardroundError, OSError):  # the same disk: what went wrong first is told, not this
        return False  # the history has to be put back from a copy, and no copy is as new as this release


def _fill(folder: Path, chosen: Candidate, key: PrivateKey, *, approver: str, version: str) -> None:
    shutil.copyfile(chosen.tensors, folder / "model.safetensors")
    shutil.copyfile(chosen.tensors.with_suffix(".json"), folder / "model.json")
    statistics = input_statistics(chosen)
    released = datetime.now(UTC).isoformat(timespec="seconds")
    about, manifest = chosen.checkpoint.card, chosen.manifest
    card = make_card(
        chosen.summary,
        manifest,
        chosen.outcome,
        version=version,
        released=released,
        approver=approver,
        weights_sha256=about.weights_sha256,
        complete=about.complete,
    )
    facts = ReleaseFacts(
        study=manifest.study,
        version=version,
        run=chosen.summary.study.run,
        arm=chosen.arm,
        model_round=about.model_round,
        approver=approver,
        released=released,
        study_sha256=manifest.study_sha256,
        contract_sha256=manifest.contract_sha256,
        weights_sha256=about.weights_sha256,
        statistics=statistics is not None,
        key_sha256=fingerprint(key.public_key()),
    )
    texts = {
        "manifest.json": manifest.model_dump_json(indent=2) + "\n",
        "acceptance.json": chosen.outcome.model_dump_json(indent=2) + "\n",
        "model_card.json": card.model_dump_json(indent=2) + "\n",
        "MODEL_CARD.md": card_markdown(card, chosen.summary.words),
        FACTS: facts.model_dump_json(indent=2) + "\n",
    }
    if statistics is not None:
        texts[FILE_NAME] = statistics.model_dump_json(indent=2) + "\n"
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    listed = checksums(folder).encode()
    (folder / LIST).write_bytes(listed)
    (folder / SIGNATURE).write_bytes(sign(listed, key))


def _next(study: Path) -> str:
    taken = [int(match.group(1)) for path in study.glob("*") if (match := _NUMBERED.match(path.name))]
    return f"v{max(taken, default=0) + 1}"


@contextmanager
def _whole_folder(target: Path) -> Iterator[Path]:
    """A hidden folder beside the target, flushed and renamed to it at the end; where the block raises it is removed."""
    unfinished = target.with_name(f".{uuid.uuid4().hex}.{target.name}")
    try:
        unfinished.mkdir(parents=True)
        yield unfinished
        for file in unfinished.iterdir():
            with file.open("rb") as stream:
                os.fsync(stream.fileno())
        sync_folder(unfinished)
        unfinished.rename(target)
        sync_folder(target.parent)
    except BaseException as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        if isinstance(error, OSError):
            name_file(error, target, unfinished)
        raise
