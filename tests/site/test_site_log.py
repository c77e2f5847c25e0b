"""The words of a failure are for the site's own user."""

from pathlib import Path

from wardround.site.site_log import open_site_log


def test_the_logs_folder_is_made_for_this_user_alone(tmp_path: Path) -> None:
    open_site_log(tmp_path / "state")
    assert (tmp_path / "state").stat().st_mode & 0o077 == 0
