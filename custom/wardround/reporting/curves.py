"""Validation curves by round and site, of the federation and of the baselines."""

from collections.abc import Iterator

from wardround.records.arms import LAST
from wardround.records.metric_record import MetricRecord
from wardround.records.run_lines import BaselineRoundLine, RoundLine, RunLine, ScoreLine
from wardround.reporting.model import Curve, Point
from wardround.reporting.words import Words

FEDERATED = "federated"


def curves(lines: list[RunLine], key: str, words: Words) -> list[Curve]:
    """Curves of the key metric's family (Dice of each region, for one).

    A round line scores the model that the round began with, so round index r gives the point after r rounds; the
    point after the last round is the validation score of `last`. A site that did not answer has no point there.
    """
    collected: dict[tuple[str, str, str], dict[int, MetricRecord]] = {}
    for arm, site, rounds, record in _points(lines):
        if words.measure(record.name).family == words.measure(key).family:
            collected.setdefault((arm, site, record.name), {})[rounds] = record
    return [
        Curve(
            arm=arm,
            site=site,
            metric=metric,
            points=[Point(rounds=rounds, record=points[rounds]) for rounds in sorted(points)],
        )
        for (arm, site, metric), points in collected.items()
    ]


def _points(lines: list[RunLine]) -> Iterator[tuple[str, str, int, MetricRecord]]:
    for line in lines:
        if isinstance(line, RoundLine):
            for site, entry in line.sites.items():
                yield from ((FEDERATED, site, line.round, record) for record in entry.records)
        elif isinstance(line, ScoreLine) and line.arm == LAST and line.split == "validation":
            if line.model_round is not None:
                yield from ((FEDERATED, line.site, line.model_round, record) for record in line.records)
        elif isinstance(line, BaselineRoundLine):
            for site, records in line.sites.items():
                yield from ((line.arm, site, line.round, record) for record in records)
