"""What a page about predicted risks shows beyond the answer: figures, calibration, alerts and cohorts by site."""

from dataclasses import dataclass

from wardround.records.alerts import AlertRow
from wardround.records.arms import ALONE, BEST, IN_READING_ORDER, LAST, PERSONALISED, RECALIBRATED, REFERENCE, is_alone
from wardround.records.scores import Cohort
from wardround.reporting.diagrams import Diagram, precision_recall_panels, reliability_panels
from wardround.reporting.model import ArmScore, SiteFacts, Summary
from wardround.reporting.risk_parts import PooledFigure

FIGURES = ("auroc", "auprc", "prevalence", "brier", "brier_skill", "accuracy")
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
COHORT_FIGURES = ("auroc", "auprc", "brier", "calibration_intercept")
ALERT_FIGURES = ("sensitivity", "specificity", "ppv", "npv", "alerts_per_100")
_STEPS = (BEST, PERSONALISED, RECALIBRATED)  # what a site has, one after the other


@dataclass(frozen=True)
class Block:
    """One site's rows of a table, each a title, its remarks and its records by name."""

    site: SiteFacts
    rows: list[ArmScore]


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
class RiskParts:
    """Everything that the risk template draws."""

    columns: list[str]
    figures: list[Block]
    calibration_columns: list[str]
    calibration: list[Block]
    reliability: list[Diagram]
    precision_recall: list[Diagram]
    alerts: list[AlertBlock]
    cohorts: list[CohortBlock]
    cohort_columns: list[str]
    pooled: dict[str, list[PooledFigure]]


def is_about_risk(summary: Summary) -> bool:
    """Whether the models were scored by their probabilities."""
    return any("auroc" in row.records or "brier" in row.records for row in summary.table)


def risk_parts(summary: Summary) -> RiskParts:
    """Chooses and orders what is shown; what the record does not have is left out."""
    styles = {BEST: "federated", _last_step(summary): "after"}
    return RiskParts(
        columns=_with_records(summary, FIGURES),
        figures=[Block(site, _at_home(summary, site.name)) for site in summary.sites],
        calibration_columns=_with_records(summary, CALIBRATION),
        calibration=[
            Block(site, [row for row in _at_home(summary, site.name) if row.arm in _STEPS]) for site in summary.sites
        ],
        reliability=reliability_panels(summary, styles),
        precision_recall=precision_recall_panels(summary, {BEST: "federated", ALONE: "alone", REFERENCE: "reference"}),
        alerts=[
            AlertBlock(site, row.arm, row.alerts)
            for site in summary.sites
            for row in _at_home(summary, site.name)
            if row.arm in styles and row.alerts and not summary.not_kept(row.arm, site.name)
        ],
        cohorts=[
            CohortBlock(site, row.arm, row.cohorts)
            for site in summary.sites
            for row in _at_home(summary, site.name)
            if row.arm == BEST and row.cohorts
        ],
        cohort_columns=list(COHORT_FIGURES),
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


def _at_home(summary: Summary, site: str) -> list[ArmScore]:
    """A site's rows without other hospitals' own models, and without `last` where that is `best`."""
    return [
        row
        for row in summary.table
        if row.site == site
        and (row.at_home or not is_alone(row.arm))
        and not (row.arm == LAST and summary.best_is_last())
    ]


def _with_records(summary: Summary, names: tuple[str, ...]) -> list[str]:
    told = {name for row in summary.table for name in row.records}
    return [name for name in names if name in told]


def _by_arm(summary: Summary) -> dict[str, list[PooledFigure]]:
    hidden = {LAST} if summary.best_is_last() else set()
    arms = [arm for arm in IN_READING_ORDER if arm not in hidden]
    rows = {arm: [figure for figure in summary.pooled_figures if figure.arm == arm] for arm in arms}
    return {summary.words.arm_title(arm): figures for arm, figures in rows.items() if figures}
