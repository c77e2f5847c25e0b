"""The readmission study as a FLARE job script.

python jobs/readmission/job.py --env sim --baselines        # the options of `wardround run`
python jobs/readmission/job.py --export --export-dir DIR    # FLARE's own flags; --set works with them too
"""

from pathlib import Path

from wardround.cli.job_script import run_script

if __name__ == "__main__":
    run_script(Path(__file__))
