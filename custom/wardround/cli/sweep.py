"""`--sweep`: a grid of settings, compared on validation scores and never on test cases."""

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import typer
from rich import box
from rich.table import Table

from wardround.cli.console import progress, results
from wardround.cli.errors import EXIT_FAILED, EXIT_INTERRUPTED, tell
from wardround.cli.progress import RunProgress
from wardround.cli.run_options import RunOptions, check_run
from wardround.cli.study_run import FederationFailedError, run_whole_study
from wardround.records.reasons import Reason, WardroundError
from wardround.records.schema_faults import validated
from wardround.records.study import Study
from wardround.records.yaml_text import yaml_value
from wardround.reporting.curves import FEDERATED
from wardround.reporting.measure import DASH
from wardround.reporting.model import Summary
from wardround.reporting.words import words_of

_MU = "algorithm.mu"
_WITHOUT_PULL = {"fedprox": "fedavg", "fedprox_fedbn": "fedbn"}
_WITH_PULL = {"fedavg": "fedprox", "fedbn": "fedprox_fedbn"}


@dataclass(frozen=True)
class Trial:
    """One point of the grid: the settings that were swept, the study that they make, and what was said about it."""

    values: dict[str, Any]
    study: Study
    remark: str = ""

    @property
    def name(self) -> str:
        """A folder's name: `algorithm.mu=0.01`."""
        return ",".join(f"{key}={value}" for key, value in self.values.items()).replace("/", "_").replace(" ", "")


def run_sweep(study: Study, options: RunOptions, sweeps: Sequence[str]) -> None:
    """Runs each trial into its own folder of `options.out`, prints the table and writes sweep.json.

    Raises:
        WardroundError: a sweep is malformed, or one of its values does not fit the study; nothing has run then.
    """
    trials = plan(study, sweeps)
    chosen = [replace(options, out=options.out / trial.name, baselines=False) for trial in trials]
    for trial, own in zip(trials, chosen, strict=True):
        check_run(trial.study, own)
    key = words_of(study.workload["kind"]).measure(study.evaluation.key_metric)
    rows: list[dict[str, Any]] = []
    for number, (trial, own) in enumerate(zip(trials, chosen, strict=True), 1):
        progress().print(
            f"[bold]trial {number} of {len(trials)}[/]: {trial.name}{trial.remark and f' ({trial.remark})'}",
            soft_wrap=True,
        )
        with RunProgress(progress(), trial.study, test_scores=False) as shown:
            try:
                summary: Summary | None = run_whole_study(trial.study, own, shown).summary
            except FederationFailedError as error:
                tell(error)
                summary = None
            except KeyboardInterrupt:
                progress().print(
                    f"[yellow]Stopped in trial {number} of {len(trials)}.[/] Kept: {options.out}", soft_wrap=True
                )
                raise typer.Exit(EXIT_INTERRUPTED) from None
        rows.append(_row(trial, summary, key.name))
    best = best_trial(rows, study.evaluation.key_metric_mode)
    options.out.mkdir(parents=True, exist_ok=True)
    file = options.out / "sweep.json"
    content = {"key_metric": key.name, "split": "validation", "best": best, "trials": rows}
    file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    results().print(_table(rows, best, f"{key.title}, validation, mean of training sites at the best round"))
    results().print(f"{file}", soft_wrap=True)
    if best is None:
        raise typer.Exit(EXIT_FAILED)


def plan(study: Study, sweeps: Sequence[str]) -> list[Trial]:
    """The grid's trials, each a valid study.

    A mu of 0 has no proximal term, so it runs as the same algorithm without it; a mu above 0 brings the term in.
    Fine-tuning and models of each site alone are left out: no figure of a sweep rests on them.
    """
    axes = [_axis(sweep) for sweep in sweeps]
    trials = []
    for combination in itertools.product(*(values for _, values in axes)):
        values = dict(zip((key for key, _ in axes), combination, strict=True))
        settings = study.model_dump(mode="json")
        settings["evaluation"] |= {"personalise_steps": 0, "compare_alone": False}
        for key, value in values.items():
            _put(settings, key, value)
        remark = _fit_kind(settings, values)
        label = ", ".join(f"{key}={value}" for key, value in values.items())
        trials.append(Trial(values, validated(Study, settings, f"--sweep {label}"), remark))
    return trials


def validation_scores(summary: Summary, key: str) -> dict[str, float | None]:
    """The key metric by training site, of the model that was chosen as best."""
    best = summary.ending.best_round
    found: dict[str, float | None] = dict.fromkeys(summary.training_sites())
    for curve in summary.curves:
        if curve.arm == FEDERATED and curve.metric == key and curve.site in found:
            found[curve.site] = next((p.record.value for p in curve.points if p.rounds == best), None)
    return found


def best_trial(rows: list[dict[str, Any]], mode: str) -> str | None:
    """The folder of the best trial, the lowest where the metric's mode is `min`.

    Only trials with a figure of every training site can be compared; None where there is none.
    """
    ranked = [row for row in rows if row["mean"] is not None]
    if not ranked:
        return None
    choose = max if mode == "max" else min
    return str(choose(ranked, key=lambda row: row["mean"])["folder"])


def _axis(sweep: str) -> tuple[str, list[Any]]:
    key, separator, text = sweep.partition("=")
    values = [yaml_value(part, f"--sweep {sweep}") for part in text.split(",")] if text else []
    if not separator or not key or not values:
        raise WardroundError(Reason.CONFIGURATION_INVALID, f"--sweep {sweep}: expected key.path=value,value,...")
    if len(values) != len({str(value) for value in values}):
        raise WardroundError(Reason.CONFIGURATION_INVALID, f"--sweep {sweep}: a value is there twice")
    return key.strip(), values


def _put(settings: dict[str, Any], key: str, value: Any) -> None:
    *parents, last = key.split(".")
    for parent in parents:
        section = settings.setdefault(parent, {})
        if not isinstance(section, dict):
            raise WardroundError(Reason.CONFIGURATION_INVALID, f"--sweep {key}: {parent} is a value, not a section")
        settings = section
    settings[last] = value


def _fit_kind(settings: dict[str, Any], values: dict[str, Any]) -> str:
    if _MU not in values or "algorithm.kind" in values:
        return ""
    kind, mu = settings["algorithm"]["kind"], values[_MU]
    other = (_WITHOUT_PULL if mu == 0 else _WITH_PULL).get(kind)
    if other is None:
        return ""
    settings["algorithm"]["kind"] = other
    return f"mu {mu} runs as {other}"


def _row(trial: Trial, summary: Summary | None, key: str) -> dict[str, Any]:
    scores = validation_scores(summary, key) if summary else {}
    known = [score for score in scores.values() if score is not None]
    complete = bool(scores) and len(known) == len(scores)
    return {
        "settings": trial.values,
        "remark": trial.remark,
        "status": summary.ending.status if summary else "failed",
        "best_round": summary.ending.best_round if summary else None,
        "sites": scores,
        "mean": sum(known) / len(known) if complete else None,
        "folder": trial.name,
    }


def _table(rows: list[dict[str, Any]], best: str | None, title: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    table.add_column("trial", no_wrap=True)
    sites = list(dict.fromkeys(site for row in rows for site in row["sites"]))
    for name in (*sites, "mean", "best round"):
        table.add_column(name, justify="right")
    table.add_column("remark")
    for row in rows:
        scores = [_three_digits(row["sites"].get(site)) for site in sites]
        round_text = DASH if row["best_round"] is None else str(row["best_round"])
        remark = row["remark"] if row["status"] == "complete" else f"{row['status']} {row['remark']}".strip()
        table.add_row(
            row["folder"], *scores, _three_digits(row["mean"]), round_text, remark,
            style="bold green" if row["folder"] == best else None,
        )  # fmt: skip
    return table


def _three_digits(value: float | None) -> str:
    return DASH if value is None else f"{value:.3f}"
