"""`wardround synth`: generated hospitals to try things on."""

import shutil
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from wardround.cli.console import progress, results
from wardround.records.reasons import Reason, WardroundError

# A command a workload, written here and not asked of it: a command's options are its generator's own knobs, and a
# workload that brought them along would have to know of the command line. A workload without one needs no line here.
app = typer.Typer(no_args_is_help=True, help="Generate hospitals to try things on. No patient is in them.")


@app.command(name="brain-tumor")
def brain_tumor(
    out: Annotated[Path, typer.Argument(help="Folder that gets one folder a hospital, each with a site.yaml.")],
    hospitals: Annotated[int, typer.Option(min=1, max=26, help="How many; the fourth only evaluates.")] = 4,
    size: Annotated[int, typer.Option(min=16, help="Voxels a side.")] = 48,
    train: Annotated[int, typer.Option(min=1, help="Training cases a hospital.")] = 6,
    validation: Annotated[int, typer.Option(min=0, help="Validation cases a training hospital.")] = 4,
    test: Annotated[int, typer.Option(min=0, help="Test cases a hospital.")] = 8,
    seed: Annotated[int, typer.Option(min=0, help="Another one gives other patients.")] = 0,
    shift: Annotated[float, typer.Option(min=0, help="How far scanners and patients differ; 0: not at all.")] = 1.0,
    min_max: Annotated[
        list[str] | None,
        typer.Option(help="A hospital that skips the agreed z-score and scales by minimum and maximum. Repeatable."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace hospitals that OUT has already.")] = False,
) -> None:
    """Write BraTS 2023 style NIfTI for hospitals that differ in scanner, lesions and patients; seeded."""
    from wardround.workloads.brain_tumor.synth.writer import CaseCounts, write_hospitals

    _make_room(out, overwrite=overwrite)
    with _bar() as bar:
        task = bar.add_task("generating", total=None)

        def on_case(hospital: str, written: int, total: int) -> None:
            bar.update(task, description=f"generating {hospital}", completed=written, total=total)

        files = write_hospitals(
            out,
            hospitals=hospitals,
            size=size,
            cases=CaseCounts(train, validation, test),
            seed=seed,
            shift=shift,
            min_max=tuple(min_max or ()),
            on_case=on_case,
        )
    for file in files:
        results().print(f"{file}", soft_wrap=True)


@app.command(name="clinical-risk")
def clinical_risk(
    out: Annotated[Path, typer.Argument(help="Folder that gets one folder a hospital, each with a site.yaml.")],
    hospitals: Annotated[int, typer.Option(min=1, max=26, help="How many; the fourth only evaluates.")] = 4,
    rows: Annotated[int, typer.Option(min=1, help="Stays a hospital; some patients have several.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Another one gives other patients.")] = 0,
    covariate_shift: Annotated[float, typer.Option(min=0, help="How far the patients differ; 0: not at all.")] = 1.0,
    prevalence_shift: Annotated[float, typer.Option(min=0, help="How far everyone's risk differs.")] = 1.0,
    concept_shift: Annotated[float, typer.Option(min=0, help="How far a finding means another risk.")] = 1.0,
    missingness_shift: Annotated[float, typer.Option(min=0, help="How far the values that are left out differ.")] = 1.0,
    schema_shift: Annotated[
        bool, typer.Option(help="Whether each hospital has its own names, units, codes and file format.")
    ] = True,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace hospitals that OUT has already.")] = False,
) -> None:
    """Write tables of hospital stays, with readmission within 30 days, for hospitals that differ; seeded."""
    from wardround.workloads.clinical_risk.synth.hospitals import Knobs
    from wardround.workloads.clinical_risk.synth.writer import write_hospitals

    _make_room(out, overwrite=overwrite)
    knobs = Knobs(covariate_shift, prevalence_shift, concept_shift, missingness_shift, schema_shift)
    with _bar() as bar:
        task = bar.add_task("generating", total=None)

        def on_hospital(hospital: str, written: int, total: int) -> None:
            bar.update(task, description=f"generating {hospital}", completed=written, total=total)

        files = write_hospitals(out, hospitals=hospitals, rows=rows, seed=seed, knobs=knobs, on_hospital=on_hospital)
    for file in files:
        results().print(f"{file}", soft_wrap=True)


def _make_room(out: Path, *, overwrite: bool) -> None:
    """Other options would leave a mixture: of cases, and of figures that nobody can repeat."""
    held = sorted(file.parent for file in out.glob("hospital-*/site.yaml"))
    if held and not overwrite:
        raise WardroundError(
            Reason.CONFIGURATION_INVALID,
            f"{out}: it has {', '.join(folder.name for folder in held)} already; name a new folder, or replace with "
            "--overwrite",
        )
    for folder in held:
        shutil.rmtree(folder)


def _bar() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=progress(), transient=True)
