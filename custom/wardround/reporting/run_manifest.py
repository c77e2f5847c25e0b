"""A run's manifest from its record."""

from collections.abc import Iterator, Mapping
from typing import Any

from wardround.records.acceptance import Acceptance
from wardround.records.code import code_facts
from wardround.records.manifest import EnrolledSite, MetricDefinition, ModelFile, RunManifest
from wardround.records.resumption import joins
from wardround.records.run_lines import EndLine, RoundLine, RunLine, StartLine
from wardround.records.study import Study
from wardround.records.update import SiteManifest
from wardround.records.versions import package_versions
from wardround.reporting.model import SiteFacts
from wardround.reporting.summary import summarise
from wardround.reporting.vocabularies import vocabulary_of
from wardround.workloads.vocabulary import METRICS_VERSION


def make_manifest(
    lines: list[RunLine], models: Mapping[str, ModelFile], record_sha256: str | None = None
) -> RunManifest:
    """The manifest of a run whose sites had agreed on it.

    Args:
        lines: of its record.
        models: what the run left.
        record_sha256: of the record's bytes.

    Raises:
        WardroundError: the record has no start, or one without what every study has.
    """
    summary = summarise(lines)
    start = next(line for line in lines if isinstance(line, StartLine))
    answered = [(manifest, None) for manifest in start.sites] + [
        (line.manifest, line.round + 1) for line in joins(start, lines).values()
    ]
    facts = {site.name: site for site in summary.sites}
    contracts = {manifest.contract_digest for manifest, _ in answered}
    return RunManifest(
        run=start.run,
        time=start.time,
        environment=start.environment,
        status=summary.ending.status,
        reasons=summary.ending.reasons,
        study=summary.study.name,
        settings=start.study,
        study_sha256=start.study_digest,
        contract_sha256=contracts.pop() if len(contracts) == 1 else None,
        seeds=dict(_seeds(start.study)),
        acceptance=Acceptance.model_validate(start.study.get("acceptance") or {}),
        code=start.code,
        versions=start.versions,
        sites=[_site(manifest, joined, facts[manifest.site]) for manifest, joined in answered],
        missing=summary.missing,
        metrics_version=METRICS_VERSION,
        metrics=_definitions(summary.study.workload),
        rounds_done=sum(isinstance(line, RoundLine) for line in lines),
        rounds=_rounds(start.study),
        best_round=summary.ending.best_round,
        last_round=summary.ending.last_round,
        models=dict(models),
        record_sha256=record_sha256,
        resumptions=summary.resumptions,
    )


def manifest_of_a_failure(study: Study, environment: str, lines: list[RunLine], reason: str) -> RunManifest:
    """The manifest of a run that ended before its sites had agreed on it; its code is this machine's.

    Args:
        study: what was to be run.
        environment: where.
        lines: of its record, without a start.
        reason: why, where the record does not say.
    """
    settings = study.model_dump(mode="json")
    told = [line.reasons for line in lines if isinstance(line, EndLine)]
    return RunManifest(
        run=None,
        time=None,
        environment=environment,
        status="failed",
        reasons=told[-1] if told else [reason],
        study=study.name,
        settings=settings,
        study_sha256=study.digest(),
        contract_sha256=None,
        seeds=dict(_seeds(settings)),
        acceptance=study.acceptance,
        code=code_facts(),
        versions=package_versions(),
        sites=[],
        missing=[],
        metrics_version=METRICS_VERSION,
        metrics=_definitions(str(study.workload["kind"])),
        rounds_done=0,
        rounds=study.training.rounds,
        best_round=None,
        last_round=None,
    )


def _site(manifest: SiteManifest, joined_in: int | None, facts: SiteFacts) -> EnrolledSite:
    return EnrolledSite(
        site=manifest.site,
        role=manifest.role,
        nature=manifest.nature,
        counts=facts.counts,
        left_out=facts.problems,
        joined_in=joined_in,
        declared=manifest.declared,
        contract_sha256=manifest.contract_digest,
        study_sha256=manifest.study_digest,
        versions=manifest.versions,
        code=manifest.code,
    )


def _definitions(kind: str) -> list[MetricDefinition]:
    return [
        MetricDefinition(
            name=family.key,
            title=family.title,
            better="higher" if family.higher_is_better else "lower",
            unit=family.unit,
            formula=family.formula or family.meaning,
            parts=[part.key for part in family.parts],
        )
        for family in vocabulary_of(kind).families
    ]


def _seeds(settings: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, int]]:
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from _seeds(value, f"{path}{key}.")
        elif key == "seed" and isinstance(value, int):
            yield f"{path}{key}", value


def _rounds(settings: Mapping[str, Any]) -> int:
    training = settings.get("training")
    rounds = training.get("rounds", 0) if isinstance(training, Mapping) else 0
    return rounds if isinstance(rounds, int) else 0
