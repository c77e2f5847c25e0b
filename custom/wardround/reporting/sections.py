"""Which sections a page has beyond the answer: each is there where the record holds what it shows.

No section is chosen by the name of the workload: alerts, cohorts, bins of probabilities and sums of voxels speak for
themselves, and what only a workload can say is declared by its vocabulary.
"""

from dataclasses import dataclass

from wardround.records.alerts import AlertRow
from wardround.records.arms import ALONE, BEST, IN_READING_ORDER, LAST, PERSONALISED, RECALIBRATED, REFERENCE
from wardround.records.metric_record import MetricRecord
from wardround.records.scores import Cohort
from wardround.reporting.diagrams import Diagram, precision_recall_panels, reliability_panels
from wardround.reporting.figure_tables import Block, FigureTable, beside_table, figure_table, rows_at_home
from wardround.reporting.model import SiteFacts, Summary
from wardround.reporting.probability_parts import PooledFigure

CALIBRATION = (
    "calibration_slope",
    "calibration_intercept",
    "calibration_error",
    "brier",
    "brier_reliability",
    "brier_resolution",
    "brier_within_bin",
    "brier_uncertainty",
)
_STEPS = (BEST, PERSONALISED, RECALIBRATED)  # what a site has, one after the other


@dataclass(frozen=True)
class AlertBlock:
    """One arm's alert table at one site."""

    site: SiteFacts
    arm: str
    rows: list[AlertRow]


@dataclass(frozen=True)
class CohortBlock:
    """One arm's figures by part of a site's patients."""

    site: SiteFacts
    arm: str
    rows: list[Cohort]


@dataclass(frozen=True)
class Sections:
    """Everything that the templates draw below the answer; empty where the record has nothing of the kind.

    Args:
        figures: of every model at every site.
        beside: figures by another convention, which must not be mixed with the main ones.
        overlap: names of the tallies of voxels that are pooled over sites, in reading order.
        calibration_columns, alert_columns, cohort_columns: names of records.
        pooled: figures over all sites by the title of the arm.
    """

    figures: FigureTable
    beside: FigureTable
    overlap: list[str]
    calibration_columns: list[str]
    calibration: list[Block]
    reliability: list[Diagram]
    precision_recall: list[Diagram]
    alert_columns: list[str]
    alerts: list[AlertBlock]
    cohort_columns: list[str]
    cohorts: list[CohortBlock]
    pooled: dict[str, list[PooledFigure]]


def sections(summary: Summary) -> Sections:
    """Chooses and orders what is shown."""
    styles = {BEST: "federated", _last_step(summary): "after"}
    calibration = _calibration_columns(summary)
    alerts = _alerts(summary, styles)
    cohorts = _cohorts(summary)
    return Sections(
        figures=figure_table(summary),
        beside=beside_table(summary),
        overlap=summary.words.in_reading_order(list(dict.fromkeys(row.tally for row in summary.pooled))),
        calibration_columns=calibration,
        calibration=_calibration(summary) if calibration else [],
        reliability=reliability_panels(summary, styles),
        precision_recall=precision_recall_panels(summary, {BEST: "federated", ALONE: "alone", REFERENCE: "reference"}),
        alert_columns=_names([row.records for block in alerts for row in block.rows]),
        alerts=alerts,
        cohort_columns=_names([row.records for block in cohorts for row in block.rows]),
        cohorts=cohorts,
        pooled=_by_arm(summary),
    )


def goal_text(row: AlertRow) -> str:
    """`sensitivity 80 %`, `PPV 30 %`, `10 alerts per 100`."""
    if row.goal == "alerts_per_100":
        return f"{row.target:g} alerts per 100"
    name = "PPV" if row.goal == "ppv" else row.goal
    return f"{name} {100 * row.target:g}\N{NO-BREAK SPACE}%"


def by_metric(figures: list[PooledFigure]) -> dict[str, PooledFigure]:
    """One arm's pooled figures by name."""
    return {figure.metric: figure for figure in figures}


def _last_step(summary: Summary) -> str:
    """The arm that a site would use in the end, of those that were scored."""
    arms = {row.arm for row in summary.table}
    return next((arm for arm in reversed(_STEPS) if arm in arms), BEST)


def _calibration_columns(summary: Summary) -> list[str]:
    """A Brier score alone says too little of calibration for a table of its own."""
    told = {name for row in summary.table for name in row.records}
    found = [name for name in CALIBRATION if name in told]
    return [] if found == ["brier"] else found


def _calibration(summary: Summary) -> list[Block]:
    blocks = [
        Block(site, [row for row in rows_at_home(summary, site.name) if row.arm in _STEPS]) for site in summary.sites
    ]
    return [block for block in blocks if block.rows]


def _alerts(summary: Summary, styles: dict[str, str]) -> list[AlertBlock]:
    return [
        AlertBlock(site, row.arm, row.alerts)
        for site in summary.sites
        for row in rows_at_home(summary, site.name)
        if row.arm in styles and row.alerts and not summary.not_kept(row.arm, site.name)
    ]


def _cohorts(summary: Summary) -> list[CohortBlock]:
    return [
        CohortBlock(site, row.arm, row.cohorts)
        for site in summary.sites
        for row in rows_at_home(summary, site.name)
        if row.arm == BEST and row.cohorts
    ]


def _names(rows: list[list[MetricRecord]]) -> list[str]:
    return list(dict.fromkeys(record.name for records in rows for record in records))


def _by_arm(summary: Summary) -> dict[str, list[PooledFigure]]:
    hidden = {LAST} if summary.best_is_last() else set()
    arms = [arm for arm in IN_READING_ORDER if arm not in hidden]
    rows = {arm: [figure for figure in summary.pooled_figures if figure.arm == arm] for arm in arms}
    return {summary.words.arm_title(arm): figures for arm, figures in rows.items() if figures}
