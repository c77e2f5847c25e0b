"""Runs beside one another: one line each, and what differs between two of them."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from wardround.records.arms import BEST
from wardround.records.manifest import EnrolledSite, RunManifest
from wardround.records.metric_record import MetricRecord
from wardround.reporting.model import Summary


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RunRow(_Part):
    """One run in a list.

    Args:
        run: its folder.
        status: as in its manifest, `running`, or `unreadable`; `reasons` say why.
        key_metric, key_value: mean over the training sites of the best model's test figure; None where there is none.
        sites, scored: training sites, and how many of them are in that mean.
        releases: made from it, such as `v2`, the study's current one marked: `v2 (current)`.
    """

    run: str
    study: str
    time: str | None
    environment: str
    status: str
    reasons: list[str]
    rounds_done: int
    rounds: int
    key_metric: str | None = None
    key_value: float | None = None
    sites: int = 0
    scored: int = 0
    releases: list[str] = Field(default_factory=list)


class Change(_Part):
    """A value that two runs do not share; None where a run has no such value."""

    key: str
    first: Any
    second: Any


class FigureChange(_Part):
    """A test figure of the best model at one site in two runs; `difference` is the second minus the first."""

    site: str
    metric: str
    first: MetricRecord | None
    second: MetricRecord | None
    difference: float | None


class RunDifference(_Part):
    """What differs between two runs. Figures are all told, alike or not.

    Args:
        comparable: whether both runs define their figures alike.
    """

    first: str
    second: str
    settings: list[Change]
    code: list[Change]
    versions: list[Change]
    sites: list[Change]
    comparable: bool
    figures: list[FigureChange]


def run_row(run: str, manifest: RunManifest, summary: Summary | None, releases: list[str]) -> RunRow:
    """A run's line; `summary` is None where its sites never agreed on it."""
    found: dict[str, Any] = {}
    if summary is not None:
        key = summary.study.key_metric
        overall = next((row for row in summary.overall if (row.arm, row.metric) == (BEST, key)), None)
        found = {
            "key_metric": key,
            "key_value": overall.mean if overall else None,
            "sites": len(summary.training_sites()),
            "scored": len(overall.sites) if overall else 0,
        }
    return RunRow(
        run=run,
        study=manifest.study,
        time=manifest.time,
        environment=manifest.environment,
        status=manifest.status,
        reasons=manifest.reasons,
        rounds_done=manifest.rounds_done,
        rounds=manifest.rounds,
        releases=releases,
        **found,
    )


def run_difference(
    names: tuple[str, str], manifests: tuple[RunManifest, RunManifest], summaries: tuple[Summary | None, Summary | None]
) -> RunDifference:
    """Compares two runs of any studies."""
    first, second = manifests
    return RunDifference(
        first=names[0],
        second=names[1],
        settings=_changes(first.settings, second.settings),
        code=_changes(_code(first), _code(second)),
        versions=_changes(first.versions, second.versions),
        sites=_changes(_sites(first), _sites(second)),
        comparable=first.metrics_version == second.metrics_version and first.metrics == second.metrics,
        figures=_figures(*summaries),
    )


def _changes(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Change]:
    ours, theirs = dict(_flat(first)), dict(_flat(second))
    return [
        Change(key=key, first=ours.get(key), second=theirs.get(key))
        for key in dict.fromkeys([*ours, *theirs])
        if ours.get(key) != theirs.get(key)
    ]


def _flat(values: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value


def _code(manifest: RunManifest) -> dict[str, Any]:
    return manifest.code.model_dump(exclude={"files"}) if manifest.code else {}


def _sites(manifest: RunManifest) -> dict[str, Any]:
    return {site.site: _site(site) for site in manifest.sites}


def _site(site: EnrolledSite) -> dict[str, Any]:
    told = site.model_dump(include={"role", "nature", "counts", "left_out", "joined_in", "declared", "versions"})
    return {**told, "contract": site.contract_sha256[:12], "code": site.code.package_sha256[:12] if site.code else None}


def _figures(first: Summary | None, second: Summary | None) -> list[FigureChange]:
    if first is None or second is None:
        return []
    found = []
    for site in dict.fromkeys(facts.name for summary in (first, second) for facts in summary.sites):
        ours, theirs = (summary.records_at(BEST, site) for summary in (first, second))
        for metric in dict.fromkeys([*ours, *theirs]):
            pair = ours.get(metric), theirs.get(metric)
            values = [record.value if record else None for record in pair]
            difference = values[1] - values[0] if values[0] is not None and values[1] is not None else None
            found.append(FigureChange(site=site, metric=metric, first=pair[0], second=pair[1], difference=difference))
    return found
