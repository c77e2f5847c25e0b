"""Arguments that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

StudyFolder = Annotated[Path, typer.Argument(help="The study's folder, which holds its job.yaml.", metavar="STUDY")]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override a setting, such as algorithm.kind=fedbn. Repeatable."),
]
CheckpointFile = Annotated[Path, typer.Option("--model", help="A checkpoint: X.safetensors with X.json beside it.")]
