"""The brain-tumor study as a FLARE job script.

python jobs/brain_tumor/job.py --env sim --baselines        # the options of `wardround run`
python jobs/brain_tumor/job.py --export --export-dir DIR    # FLARE's own flags; --set works with them too
"""

import argparse
import sys
import warnings
from pathlib import Path

STUDY = Path(__file__).resolve().parent
TO_EXPORT = "--export" in sys.argv[1:]  # asked first: FLARE takes its two flags out of sys.argv when it is imported


def export() -> None:
    """Lets FLARE's recipe write the job, with FLARE's own flags, and leaves."""
    # what FLARE warns of is what this script does on purpose: it leaves the two flags to FLARE
    warnings.filterwarnings("ignore", message="NVFlare reserves '--export'", category=UserWarning)
    from wardround.flare.recipe import StudyRecipe
    from wardround.records.study import load_study

    parser = argparse.ArgumentParser(description="Export the study as a FLARE job.")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a setting")
    overrides = parser.parse_args().set
    StudyRecipe(load_study(STUDY, tuple(overrides))).execute(None)


def run() -> None:
    """Does what `wardround run jobs/brain_tumor` does, with the same options."""
    from wardround.cli.job_script import run_job

    run_job(STUDY, sys.argv[1:], script=Path(sys.argv[0]).name)


if __name__ == "__main__":
    export() if TO_EXPORT else run()
