"""A signed release of a model, as `wardround release` writes it, without the run that it comes from."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from wardround.learners.checkpoint import make_checkpoint, save_checkpoint
from wardround.records.acceptance_outcome import AcceptanceOutcome, CriterionOutcome
from wardround.records.input_statistics import InputStatistics
from wardround.records.study import Study
from wardround.releases.checksums import LIST, SIGNATURE, checksums
from wardround.releases.make import ReleaseFacts
from wardround.releases.signature import fingerprint, private_key, sign
from wardround.workloads.input_cells import input_tally, pooled_shares
from wardround.workloads.registry import make_workload
from wardround.workloads.site_data import SiteData


def signed_release(
    made: Path,
    keys: Path,
    study: Study,
    data: SiteData,
    tensors: Mapping[str, Tensor],
    *,
    criterion: dict[str, Any],
) -> Path:
    """Writes one that was "trained" on `data`; returns its folder.

    Args:
        made: to write to.
        keys: folder of `made_release.key_pair`.
        study: of the model.
        data: of a hospital; the statistics are those of its training cases.
        tensors: the model.
        criterion: on a site's own figures; beside it stands one against the site's own model.
    """
    made.mkdir()
    workload = make_workload(study)
    checkpoint = make_checkpoint(dict(tensors), study, model_round=0, workload=workload)
    save_checkpoint(made / "model", checkpoint)
    tallies = [input_tally(column, counts, minimum_cell=5) for column, counts in data.inputs("train")]
    inputs = pooled_shares(workload.input_columns(), tallies)
    key = private_key(keys / "ec.key", str)
    facts = ReleaseFacts(
        study=study.name,
        version="v1",
        run="first",
        arm="best",
        model_round=0,
        approver="Ada",
        released="2026-01-01T12:00:00+00:00",
        study_sha256=study.digest(),
        contract_sha256=None,
        weights_sha256=checkpoint.card.weights_sha256,
        statistics=True,
        key_sha256=fingerprint(key.public_key()),
    )
    texts = {
        "statistics.json": InputStatistics(study=study.name, contract_sha256=None, inputs=inputs),
        "acceptance.json": outcome(criterion),
        "release.json": facts,
    }
    for name, content in texts.items():
        (made / name).write_text(content.model_dump_json())
    listed = checksums(made).encode()
    (made / LIST).write_bytes(listed)
    (made / SIGNATURE).write_bytes(sign(listed, key))
    return made


def outcome(criterion: dict[str, Any]) -> AcceptanceOutcome:
    """With a criterion against the site's own model beside this one."""
    both = [criterion, {**criterion, "kind": "worse_than_alone", "limit": 0.02}]
    made = [CriterionOutcome.model_validate(one) for one in both]
    return AcceptanceOutcome(run="first", arm="best", model_round=0, criteria=made)
