"""Jobs that hospitals do not run: with code, an image, an unlisted class, a foreign scope, too many GPUs."""

from typing import Any

import pytest

from support.production import LEAD, SITES, Consortium
from support.provisioned import ROOT
from support.refused_jobs import building, changed_job, in_scope, with_an_image, with_code

pytestmark = pytest.mark.e2e

NO_SUCH_SCOPE = "NVFLARE_ERROR: privacy scope 'open' is not allowed"


@pytest.mark.parametrize(
    ("change", "name", "refusal"),
    [
        (with_code, "with_code", ["server: BYOC not permitted"]),
        (with_an_image, "with_an_image", ["server: BYOC not permitted"]),
        (in_scope("open"), "in_scope", [f"{site}: {NO_SUCH_SCOPE}" for site in SITES]),
    ],
)
def test_a_job_with_code_an_image_or_a_foreign_scope_is_refused(
    consortium: Consortium, change: Any, name: str, refusal: list[str]
) -> None:
    meta = consortium.submitted_and_ended(changed_job(consortium.folder / "jobs" / "clinical_risk", name, change))
    assert meta["status"] == "FINISHED:FAILED_TO_RUN"
    assert set(refusal) <= set(meta["job_deploy_detail"])


def test_a_job_for_more_gpus_than_there_are_is_refused_with_the_numbers(consortium: Consortium) -> None:
    run = ("run", str(ROOT / "jobs" / "clinical_risk"), "--env", "prod", "--kit", str(consortium.kit(LEAD)))
    wanting = ("--set", "federation.gpus=2", "--out", str(consortium.folder / "wanting-gpus"))
    told = consortium.wardround(*run, *wanting, code=2)
    for site in SITES:
        assert f"{site}: job wants 2 GPUs, site offers 0 GPUs" in told
    with consortium.session(LEAD, "clinical_risk") as session:
        (job,) = [one for one in session.list_jobs() if one["status"] == "FINISHED:ABORTED"]
    assert job["job_name"] == "clinical_risk"


def test_a_class_or_function_that_no_site_lists_is_not_built(consortium: Consortium, finished: Any) -> None:
    victim = consortium.folder / "victim"
    victim.mkdir()
    classes = {
        "hospital-a": ("wardround.flare.workspace.shutil.rmtree", {"path": str(victim)}),  # what our module imports
        "hospital-b": ("subprocess.Popen", {"args": ["rmdir", str(victim)]}),
        "hospital-c": ("nvflare.app_common.ccwf.cse_client_ctl.CrossSiteEvalClientController", {}),
    }
    job = changed_job(consortium.folder / "jobs" / "clinical_risk", "unlisted", building(classes))
    assert consortium.submitted_and_ended(job)["status"] != "FINISHED:COMPLETED"
    assert victim.is_dir()
    for site, (path, _) in classes.items():
        assert f"Component '{path}' at config path 'components.#1' is not in allow_list" in consortium.said(site)
