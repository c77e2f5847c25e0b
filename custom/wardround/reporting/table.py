"""The table of arms by site, its means and worst sites, and voxel counts pooled over sites."""

from wardround.metrics import pooling
from wardround.records.arms import ALONE, IN_READING_ORDER, alone_at, is_alone
from wardround.records.metric_record import MetricRecord, Status
from wardround.records.run_lines import ScoreLine
from wardround.records.scores import Tally
from wardround.reporting.model import ArmScore, Overall, PooledDice
from wardround.reporting.words import Words

_OVERLAP = {"both", "predicted", "reference"}


def table(scores: list[ScoreLine]) -> list[ArmScore]:
    """Test rows: the federation's arms, then each hospital alone (home first), then pooled data."""
    rows = [
        ArmScore(
            arm=line.arm,
            site=line.site,
            role=line.role,
            at_home=line.arm == alone_at(line.site),
            model_round=line.model_round,
            notes=line.notes,
            records={record.name: record for record in line.records},
            cohorts=line.cohorts,
            alerts=line.alerts,
        )
        for line in scores
        if line.split == "test"
    ]
    return sorted(
        rows, key=lambda row: (_arm_position(row.arm), row.arm, not row.at_home, row.role != "train", row.site)
    )


def overall(rows: list[ArmScore], key: str, mode: str, words: Words) -> list[Overall]:
    """Mean and worst over training sites for each arm; `alone` is every hospital's own model at home."""
    groups: dict[str, list[ArmScore]] = {}
    for row in rows:
        arm = ALONE if row.at_home else row.arm
        if row.role == "train" and not is_alone(arm):
            groups.setdefault(arm, []).append(row)
    return [
        _overall(
            arm, name, {row.site: row.records.get(name) for row in group}, higher_is_better(name, key, mode, words)
        )
        for arm, group in groups.items()
        for name in dict.fromkeys(name for row in group for name in row.records)
    ]


def higher_is_better(name: str, key: str, mode: str, words: Words) -> bool:
    """The study decides for its key metric, the metric's definition for the rest."""
    return mode == "max" if name == key else words.measure(name).family.higher_is_better


def pooled_dice(scores: list[ScoreLine], words: Words) -> list[PooledDice]:
    """Dice over all voxels of all sites: large lesions weigh more than in a mean by case.

    From the tallies that count what is predicted, what is labelled and what is both, whatever their name.
    """
    tallies: dict[tuple[str, str], dict[str, Tally]] = {}
    for line in scores:
        arm = ALONE if line.arm == alone_at(line.site) else line.arm
        if line.split != "test" or is_alone(arm):
            continue
        for tally in line.tallies:
            if set(tally.counts) == _OVERLAP:
                tallies.setdefault((arm, tally.name), {})[line.site] = tally
    return [_pooled(arm, name, words.measure(name).part or name, by_site) for (arm, name), by_site in tallies.items()]


def _arm_position(arm: str) -> int:
    name = ALONE if is_alone(arm) else arm
    return IN_READING_ORDER.index(name) if name in IN_READING_ORDER else len(IN_READING_ORDER)


def _overall(arm: str, name: str, records: dict[str, MetricRecord | None], higher: bool) -> Overall:
    usable: dict[str, float] = {}
    left_out: dict[str, str] = {}
    for site, record in sorted(records.items()):
        if record is None:
            left_out[site] = "not reported"
        elif record.value is None or record.status is not Status.OK:
            left_out[site] = record.reason or str(record.status)
        else:
            usable[site] = record.value
    choose = min if higher else max
    worst_site = choose(usable, key=lambda site: usable[site]) if usable else None
    return Overall(
        arm=arm,
        metric=name,
        mean=sum(usable.values()) / len(usable) if usable else None,
        sites=list(usable),
        left_out=left_out,
        worst_site=worst_site,
        worst=usable[worst_site] if worst_site else None,
    )


def _pooled(arm: str, name: str, region: str, by_site: dict[str, Tally]) -> PooledDice:
    (tally,) = pooling.pool(by_site.values())
    return PooledDice(
        arm=arm,
        tally=name,
        region=region,
        dice=pooling.pooled_dice(tally),
        **{key: tally.counts[key] for key in ("both", "predicted", "reference")},
        cases=tally.n,
        sites=sorted(by_site),
    )
