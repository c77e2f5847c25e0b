"""The model card of a release: what a model is for, what it was made of, how it does at each site, and its limits."""

from typing import Literal

from jinja2 import Environment, PackageLoader, StrictUndefined
from pydantic import BaseModel, ConfigDict

from wardround.records.acceptance_outcome import AcceptanceOutcome
from wardround.records.manifest import EnrolledSite, MetricDefinition, RunManifest
from wardround.records.metric_record import MetricRecord, Status
from wardround.records.notices import RESEARCH_USE
from wardround.records.scores import Cohort
from wardround.records.update import Nature, Role
from wardround.reporting.acceptance import criterion_text, site_text
from wardround.reporting.measure import DASH
from wardround.reporting.model import Summary
from wardround.reporting.probability_parts import OutcomeFacts, PooledFigure
from wardround.reporting.words import Words

NOT_A_DIAGNOSIS = "Not a diagnosis: what the model says is no finding, and no decision about a patient may rest on it."
_BARS = str.maketrans({"|": "/", "\n": " ", "<": "(", ">": ")"})  # a table's cell, and no tag


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class SiteFigures(_Part):
    """Test figures at one site, with their counts and intervals, and those of parts of its patients."""

    site: str
    role: Role
    nature: Nature
    records: list[MetricRecord]
    cohorts: list[Cohort]
    notes: list[str]


class ModelCard(_Part):
    """A whole model_card.json.

    Args:
        intended_use, limits: sentences.
        outcome: what is predicted, where the study's contract names it.
        algorithm, training: sections of the study.
        sites: what the model was trained and tested on, in numbers.
        figures, pooled: of test cases, by site and over all.
        definitions: of the figures.
    """

    format: Literal["wardround-model-card-1"] = "wardround-model-card-1"
    study: str
    version: str
    run: str
    arm: str
    model_round: int
    weights_sha256: str
    released: str
    approver: str
    intended_use: list[str]
    outcome: OutcomeFacts | None
    algorithm: dict
    training: dict
    sites: list[EnrolledSite]
    figures: list[SiteFigures]
    pooled: list[PooledFigure]
    acceptance: AcceptanceOutcome
    limits: list[str]
    metrics_version: int
    definitions: list[MetricDefinition]


def make_card(
    summary: Summary,
    manifest: RunManifest,
    outcome: AcceptanceOutcome,
    *,
    version: str,
    released: str,
    approver: str,
    weights_sha256: str,
    complete: bool,
) -> ModelCard:
    """The card of one model of a run.

    Args:
        summary, manifest: of the run.
        outcome: of the model; it names the arm.
        version, released, approver: of the release.
        weights_sha256: of the model's entries.
        complete: whether it can predict as it is, without a site's own entries.
    """
    figures = [
        SiteFigures(
            site=row.site,
            role=next(site.role for site in manifest.sites if site.site == row.site),
            nature=next(site.nature for site in manifest.sites if site.site == row.site),
            records=list(row.records.values()),
            cohorts=row.cohorts,
            notes=row.notes,
        )
        for row in summary.table
        if row.arm == outcome.arm
    ]
    settings = manifest.settings
    return ModelCard(
        study=manifest.study,
        version=version,
        run=summary.study.run,
        arm=outcome.arm,
        model_round=outcome.model_round or 0,
        weights_sha256=weights_sha256,
        released=released,
        approver=approver,
        intended_use=_intended_use(summary),
        outcome=summary.study.outcome,
        algorithm=dict(settings.get("algorithm") or {}),
        training=dict(settings.get("training") or {}),
        sites=manifest.sites,
        figures=figures,
        pooled=[figure for figure in summary.pooled_figures if figure.arm == outcome.arm],
        acceptance=outcome,
        limits=_limits(summary, figures, complete=complete),
        metrics_version=manifest.metrics_version,
        definitions=manifest.metrics,
    )


def card_markdown(card: ModelCard, words: Words) -> str:
    """MODEL_CARD.md; the same card gives the same bytes."""
    environment = Environment(
        loader=PackageLoader("wardround.reporting"),
        autoescape=False,  # noqa: S701 - Markdown; texts of people go through `cell`
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["cell"] = lambda text: str(text).translate(_BARS)
    return environment.get_template("model_card.md.j2").render(
        card=card,
        not_a_diagnosis=NOT_A_DIAGNOSIS,
        dash=DASH,
        title=lambda name: words.measure(name).title,
        value=lambda record: value_text(record, words),
        support=words.support_text,
        in_words=words.in_words,
        pooled_text=lambda figure: _pooled_text(figure, words),
        criterion_text=lambda criterion: criterion_text(criterion, words),
        site_text=lambda criterion, check: site_text(criterion, check, words),
    )


def value_text(record: MetricRecord, words: Words) -> str:
    """`0.691 (0.552 to 0.803)`; where there is no value, why; `*` where it rests on too few cases."""
    if record.value is None:
        return f"{DASH} {words.in_words(record.reason or str(record.status))}"
    text = words.measure(record.name).text(record.value) + ("*" if record.status is Status.LOW_SUPPORT else "")
    interval = words.interval_text(record)
    return f"{text} ({interval})" if interval else text


def _pooled_text(figure: PooledFigure, words: Words) -> str:
    if figure.value is None:
        return f"{DASH} {words.in_words(figure.reason or '')}"
    return words.measure(figure.metric).text(figure.value)


def _intended_use(summary: Summary) -> list[str]:
    purpose = summary.words.vocabulary.purpose
    outcome = summary.study.outcome
    sentences = [purpose] if purpose else []
    if outcome is not None:
        when = f", within {outcome.horizon_days} days" if outcome.horizon_days is not None else ""
        sentences.append(f"The outcome is {outcome.name}: {outcome.meaning}{when}.")
    return [
        *sentences,
        "It is meant for research at sites whose data meets the study's contract, on cases like those that it was "
        "tested on, by people who know the figures below.",
        RESEARCH_USE,
    ]


def _limits(summary: Summary, figures: list[SiteFigures], *, complete: bool) -> list[str]:
    """What a reader must know before trusting a figure: said from the record, none of it by hand."""
    found = []
    natures = {site.nature for site in summary.sites}
    if natures == {"generated"}:
        found.append("All sites hold generated data: no figure here says anything of patients.")
    elif "generated" in natures:
        named = ", ".join(site.name for site in summary.sites if site.nature == "generated")
        found.append(f"Generated data, no patients: {named}.")
    if "pseudo_site" in natures:
        named = ", ".join(site.name for site in summary.sites if site.nature == "pseudo_site")
        found.append(f"Parts of a public data set that stand for hospitals, and are none: {named}.")
    outside = [site.name for site in summary.sites if site.role != "train"]
    found.append(
        f"Tested outside of training at {', '.join(outside)} alone."
        if outside
        else "Tested at no site outside of training: how it does at another hospital is not known."
    )
    if summary.missing:
        found.append(f"Expected and never took part: {', '.join(summary.missing)}.")
    found += [
        f"The run is {summary.ending.status}: {summary.words.reason_in_words(why)}." for why in summary.ending.reasons
    ]
    records = [record for site in figures for record in site.records]
    records += [record for site in figures for cohort in site.cohorts for record in cohort.records]
    for status, text in (
        (Status.LOW_SUPPORT, "rest on too few cases to rank by (*)"),
        (Status.SUPPRESSED, "are held back, since they rest on too few patients to be told"),
        (Status.UNDEFINED, "have no value on the cases that there are"),
    ):
        if count := sum(record.status is status for record in records):
            found.append(f"{count} of {len(records)} figures {text}.")
    if not complete:
        found.append(
            "The model lacks the entries that each site keeps to itself: it predicts only once a site has completed it "
            "with `wardround adapt`, or with its own trained entries."
        )
    found.append(
        "Figures are of the sites and the time of their test cases: measure it on new cases before and in use."
    )
    return found
