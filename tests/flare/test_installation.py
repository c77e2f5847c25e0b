"""What an installation's record tells of a kit: why it must not be started, and what was edited since."""

import shutil
from pathlib import Path

from support.provisioned import edit
from wardround.flare.installation import changed_local, read_installation, startup_faults


def test_a_kit_as_it_was_installed_has_no_fault(kit: Path) -> None:
    assert startup_faults(kit) == []


def test_another_root_in_the_kit_is_named(kit: Path, kits: Path) -> None:
    shutil.copyfile(kits / "hospital-b" / "startup" / "client.crt", kit / "startup" / "rootCA.pem")
    (fault,) = startup_faults(kit)
    assert fault == f"{kit / 'startup'}: not as it was when the kit was installed: rootCA.pem was edited"


def test_a_path_with_a_space_is_refused_before_any_job_fails_on_it(kit: Path, tmp_path: Path) -> None:
    moved = kit.rename(tmp_path / "hospital a")
    assert startup_faults(moved) == [
        f"{moved}: FLARE splits a job's command line at spaces; move the kit to a path without one"
    ]


def test_files_of_local_that_were_edited_or_are_gone_are_named(kit: Path) -> None:
    installation = read_installation(kit)
    assert installation is not None
    assert changed_local(kit, installation) == []
    edit(kit / "local" / "privacy.json", "hospital", "clinic")
    (kit / "local" / "site.yaml").unlink()
    assert changed_local(kit, installation) == ["privacy.json", "site.yaml"]
