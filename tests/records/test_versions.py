from importlib.metadata import version

from wardround.records import versions


def test_what_is_not_installed_is_left_out(monkeypatch) -> None:
    monkeypatch.setattr(versions, "PACKAGES", ("torch", "no-such-package"))
    assert versions.package_versions() == {"torch": version("torch")}
