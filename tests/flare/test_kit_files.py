"""Edited files, and a policy that lets in what it should not."""

import shutil
from pathlib import Path

import pytest

from support.provisioned import edit
from wardround.flare.installation import read_installation
from wardround.flare.kit import read_kit
from wardround.flare.kit_files import check_files, check_policy


def test_an_edit_in_local_is_a_warning(kit: Path) -> None:
    edit(kit / "local" / "privacy.json", "hospital", "clinic")
    found = check_files(read_kit(kit), read_installation(kit))
    assert (found.status, found.text[:19]) == ("warning", "local/privacy.json:")


@pytest.mark.parametrize(
    ("file", "before", "after", "text"),
    [
        ("resources.json", '"allow_log_streaming": false', '"allow_log_streaming": true', "allow_log_streaming is not"),
        ("resources.json", '"wardround.flare.executor.SiteExecutor"', '"wardround."', "'wardround.' is none that"),
        (
            "resources.json",
            '"wardround.flare.executor.SiteExecutor"',
            '"shutil.rmtree"',
            "'shutil.rmtree' is none that",
        ),
        ("resources.json", '"wardround.flare.executor.SiteExecutor"', '"a.B"', "lacks wardround.flare.executor.Site"),
        (
            "resources.json",
            '"wardround.flare.executor.SiteExecutor"',
            '"wardround.flare.executor.SiteExecutor", "nvflare.app_common.psi.psi_executor.PSIExecutor"',
            "'nvflare.app_common.psi.psi_executor.PSIExecutor' is none that",
        ),
        (
            "resources.json",
            '"wardround.flare.kit_guard.KitGuard"',
            '"a.B"',
            "components lack wardround.flare.kit_guard",
        ),
        ("resources.json", '"enforce"', '"warn"', "class_list_enforcement_mode is not enforce"),
        ("authorization.json", '"byoc": "none"', '"byoc": "any"', "lead has byoc"),
        ("authorization.json", '"shell_commands": "none"', '"cat": "any"', "org_admin has cat"),
        ("authorization.json", '"shell_commands": "none"', '"shell_commands": "o:site"', "lead has shell_commands"),
        ("authorization.json", '"member": {', '"extra": "any", "member": {', "extra has byoc"),
    ],
)
def test_an_opened_door_fails(kit: Path, file: str, before: str, after: str, text: str) -> None:
    edit(kit / "local" / file, before, after)
    found = check_policy(read_kit(kit))
    assert found.status == "failed"
    assert text in found.text


def test_flares_own_defaults_have_open_doors(kits: Path, tmp_path: Path) -> None:
    kit = Path(shutil.copytree(kits / "hospital-a", tmp_path / "hospital-a"))
    for name in ("resources.json", "authorization.json"):
        (kit / "local" / f"{name}.default").rename(kit / "local" / name)
    text = check_policy(read_kit(kit)).text
    for door in ("project_admin has byoc", "lead has byoc", "org_admin has shell_commands", "allow_log_streaming"):
        assert door in text
