"""From a run's lines to the report's data. No figure is made up: what has no value keeps its reason."""

import math
from collections.abc import Mapping

from wardround.records.arms import BEST, is_baseline
from wardround.records.codes import Band
from wardround.records.reasons import Reason, WardroundError
from wardround.records.resumption import joins, resumptions
from wardround.records.run_lines import EndLine, JoinLine, ResumeLine, RoundLine, RunLine, ScoreLine, StartLine
from wardround.records.shared_monitoring import SharedMonitoring
from wardround.records.update import SiteManifest, SiteRound
from wardround.reporting.comparisons import comparisons
from wardround.reporting.curves import curves
from wardround.reporting.model import Ending, RoundFacts, SiteFacts, StudyFacts, Summary
from wardround.reporting.probability_parts import OutcomeFacts
from wardround.reporting.probability_summary import pooled_figures, precision_recalls, reliabilities
from wardround.reporting.table import overall, pooled_dice, table
from wardround.reporting.words import words_of


def summarise(lines: list[RunLine]) -> Summary:
    """Builds the summary.

    Raises:
        WardroundError: the lines hold no start, so nothing is known of the study.
    """
    start = next((line for line in lines if isinstance(line, StartLine)), None)
    if start is None:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            "run.jsonl: expected a start line (what the sites agreed on), found none; "
            "the run ended before its sites had answered, see flare.log beside it",
        )
    name, key, mode = _choice(start)
    rounds = [_round(line) for line in lines if isinstance(line, RoundLine)]
    scores = [line for line in lines if isinstance(line, ScoreLine)]
    joined = joins(start, lines)
    manifests = sorted([*start.sites, *(line.manifest for line in joined.values())], key=_by_role_and_name)
    missing = sorted(set(start.missing) - set(joined))
    resumed = resumptions(start, lines)
    left_out = {site for fact in resumed[-1:] for site in fact.left_out}
    rows = table(scores)
    study = StudyFacts(
        name=name,
        run=start.run,
        time=start.time,
        environment=start.environment,
        settings=start.study,
        digest=start.study_digest,
        key_metric=key,
        key_metric_mode=mode,
        versions=start.versions,
        outcome=_outcome(start),
    )
    words = words_of(study.workload)
    return Summary(
        study=study,
        ending=_ending(lines, [one.site for one in manifests if one.site not in left_out], missing, scores, key),
        sites=[_site(manifest, rounds, lines, joined.get(manifest.site)) for manifest in manifests],
        missing=missing,
        resumptions=resumed,
        rounds=rounds,
        last_flags={line.site: line.flags for line in scores if line.flags},
        curves=curves(lines, key, words),
        table=rows,
        overall=overall(rows, key, mode, words),
        comparisons=comparisons(lines, rows, key, mode, words),
        pooled=pooled_dice(scores, words),
        pooled_figures=pooled_figures(scores, {manifest.site: manifest.role for manifest in manifests}),
        reliability=reliabilities(scores),
        precision_recall=precision_recalls(scores),
    )


def _choice(start: StartLine) -> tuple[str, str, str]:
    """The study's name, its key metric and which way that is better."""
    try:
        evaluation = start.study["evaluation"]
        return start.study["name"], evaluation["key_metric"], evaluation.get("key_metric_mode", "max")
    except (KeyError, TypeError, AttributeError) as error:
        raise WardroundError(
            Reason.DATA_UNREADABLE,
            "run.jsonl: the start line's study lacks its name or evaluation.key_metric; copy the file again",
        ) from error


def _outcome(start: StartLine) -> OutcomeFacts | None:
    """What is predicted, where the study's contract says so."""
    try:
        outcome = start.study["workload"]["contract"]["outcome"]
        return OutcomeFacts(name=outcome["name"], meaning=outcome["meaning"], horizon_days=outcome.get("horizon_days"))
    except (KeyError, TypeError, AttributeError, ValueError):
        return None


def _by_role_and_name(manifest: SiteManifest) -> tuple[bool, str]:
    return manifest.role != "train", manifest.site


def _ending(lines: list[RunLine], sites: list[str], missing: list[str], scores: list[ScoreLine], key: str) -> Ending:
    end = next((line for line in reversed(lines) if isinstance(line, EndLine)), None)
    told = end.reasons if end else []  # the server knows why a site is missing; without its word, that it is
    reasons = [f"{site}: {Reason.ABSENT}" for site in missing if not any(why.startswith(f"{site}: ") for why in told)]
    if end is None:
        return Ending(status="stopped", reasons=[*reasons, "the record has no end: the run was stopped"])
    gaps = [] if end.status == "failed" else _gaps(sites, scores, key)
    reasons = list(dict.fromkeys([*end.reasons, *reasons, *gaps]))
    return Ending(
        status="partial" if end.status == "complete" and reasons else end.status,
        reasons=reasons,
        best_round=end.best_round,
        last_round=end.last_round,
        weights_sha256=end.weights_sha256,
        best_weights_sha256=end.best_weights_sha256,
        seconds=end.seconds,
    )


def _gaps(sites: list[str], scores: list[ScoreLine], key: str) -> list[str]:
    """Sites without a test record of the key metric: a mean over the others must not read as the whole."""
    scored = {
        line.site
        for line in scores
        if line.arm == BEST and line.split == "test" and any(record.name == key for record in line.records)
    }
    return [f"{site}: {Reason.METRICS_MISSING}" for site in sites if site not in scored]


def _site(manifest: SiteManifest, rounds: list[RoundFacts], lines: list[RunLine], join: JoinLine | None) -> SiteFacts:
    sizes = [math.prod(int(side) for side in entry[1:]) for entry in manifest.shared.values()]
    reports: list[ScoreLine | SiteRound] = [
        line for line in lines if isinstance(line, ScoreLine) and line.site == manifest.site and not _local(line)
    ]
    reports += [
        line.sites[manifest.site] for line in lines if isinstance(line, RoundLine) and manifest.site in line.sites
    ]
    held_back = [name for report in reports for name in report.suppressed]
    return SiteFacts(
        name=manifest.site,
        role=manifest.role,
        counts={**manifest.counts, **_ranges(manifest.banded)},
        problems={**manifest.problems, **_ranges(manifest.banded_problems)},
        doubts={**manifest.doubts, **_ranges(manifest.banded_doubts)},
        shared_entries=len(sizes),
        shared_numbers=sum(sizes),
        kept_local=list(manifest.kept_local),
        figures_sent=list(dict.fromkeys(record.name for report in reports for record in report.records)),
        sums_sent=list(dict.fromkeys(tally.name for report in reports for tally in report.tallies)),
        joined_in=join.round + 1 if join else None,
        nature=manifest.nature,
        statistics=[tally.name for tally in manifest.statistics],
        suppressed=list(manifest.suppressed),
        held_back=list(dict.fromkeys(held_back)),
        monitoring=_newest_look(manifest, lines),
        times_sent=sum(manifest.site in line.contributed or manifest.site in line.rejected for line in rounds),
    )


def _newest_look(manifest: SiteManifest, lines: list[RunLine]) -> SharedMonitoring | None:
    """A run that goes on asks its sites once more, and one may have looked again meanwhile."""
    again = [one for line in lines if isinstance(line, ResumeLine) for one in line.sites if one.site == manifest.site]
    return next((one.monitoring for one in reversed([manifest, *again]) if one.monitoring), None)


def _ranges(banded: Mapping[str, Band]) -> dict[str, str]:
    """A range as a reader takes it: `1 to 4`, or `at least 1`."""
    return {name: f"at least {low}" if high is None else f"{low} to {high}" for name, (low, high) in banded.items()}


def _local(line: ScoreLine) -> bool:
    """Baselines are made beside the federation, on one machine: their figures did not go through FLARE."""
    return is_baseline(line.arm)


def _round(line: RoundLine) -> RoundFacts:
    weights = {site: line.sites[site].weight for site in line.contributed if site in line.sites}
    total = sum(weights.values())
    return RoundFacts(
        round=line.round + 1,
        expected=line.expected,
        contributed=line.contributed,
        rejected=line.rejected,
        failed=line.failed,
        late=line.late,
        alarms=line.alarms,
        weights={site: weight / total for site, weight in weights.items()} if total > 0 else {},
        moved=line.moved,
        seconds=line.seconds,
        training={site: entry.report for site, entry in line.sites.items()},
        cosines={site: entry.cosine for site, entry in line.sites.items() if entry.cosine is not None},
        norm_ratios={site: entry.norm_ratio for site, entry in line.sites.items() if entry.norm_ratio is not None},
        flags={site: list(entry.flags) for site, entry in line.sites.items() if entry.flags},
    )
