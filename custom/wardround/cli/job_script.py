"""What a study's job.py does: `wardround run` with its own study, or FLARE's own export of it."""

import argparse
import sys
import warnings
from pathlib import Path

_EXPORT = "With --export --export-dir DIR, it writes the FLARE job there instead; of the options, --set works with it."


def run_script(script: Path) -> None:
    """Runs the study of the script's folder with the arguments of this process.

    FLARE takes `--export` and `--export-dir` out of `sys.argv` when it is imported, so they are asked for first.

    Args:
        script: the job.py.
    """
    study = Path(script).resolve().parent
    if "--export" in sys.argv[1:]:
        _export(study)
    elif "--help" in sys.argv[1:]:
        _help(script.name)
    else:
        from wardround.cli.main import app

        app(["run", str(study), *sys.argv[1:]])


def _export(study: Path) -> None:
    """Lets FLARE's recipe write the job, with FLARE's own flags."""
    # what FLARE warns of is what is done here on purpose: it is left to take its two flags
    warnings.filterwarnings("ignore", message="NVFlare reserves '--export'", category=UserWarning)
    from wardround.flare.recipe import StudyRecipe
    from wardround.records.study import load_study

    parser = argparse.ArgumentParser(description="Export the study as a FLARE job.")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a setting")
    overrides = parser.parse_args().set
    StudyRecipe(load_study(study, tuple(overrides))).execute(None)


def _help(script: str) -> None:
    """Shows the script's own usage, which names no study."""
    from typer.core import TyperGroup
    from typer.main import get_command

    from wardround.cli.main import app

    group = get_command(app)
    assert isinstance(group, TyperGroup)
    command = group.commands["run"]
    command.params = [parameter for parameter in command.params if parameter.name != "study"]
    command.epilog = _EXPORT
    command.main(["--help"], prog_name=script)
