"""What code runs: equal files give an equal hash, and what cannot be known is told as None."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import wardround
from wardround.records.code import IMAGE_DIGEST, REVISION, code_facts, package_sha256

SHA = "ab" * 32


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in (IMAGE_DIGEST, REVISION):
        monkeypatch.delenv(name, raising=False)
    code_facts.cache_clear()
    yield
    code_facts.cache_clear()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "package"
    (folder / "part").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "part" / "module.py").write_text("x = 1\n")
    return folder


def test_the_hash_is_of_paths_and_contents_alone(package: Path, tmp_path: Path) -> None:
    before, files = package_sha256(package)
    assert files == 2
    (package / "part" / "__pycache__").mkdir()
    (package / "part" / "__pycache__" / "module.cpython-311.pyc").write_bytes(b"compiled")
    package.rename(tmp_path / "elsewhere")
    assert package_sha256(tmp_path / "elsewhere") == (before, 2)


@pytest.mark.parametrize("change", ["content", "name", "file more"])
def test_any_other_file_gives_another_hash(package: Path, change: str) -> None:
    before, _ = package_sha256(package)
    module = package / "part" / "module.py"
    if change == "content":
        module.write_text("x = 2\n")
    elif change == "name":
        module.rename(package / "part" / "modules.py")
    else:
        (package / "template.html.j2").write_text("")
    assert package_sha256(package)[0] != before


def test_a_content_that_moves_into_the_next_file_is_another_package(tmp_path: Path) -> None:
    for name, contents in (("one", ("ab", "c")), ("two", ("a", "bc"))):
        (tmp_path / name).mkdir()
        for file, content in zip("xy", contents, strict=True):
            (tmp_path / name / file).write_text(content)
    assert package_sha256(tmp_path / "one") != package_sha256(tmp_path / "two")


def test_the_revision_is_that_of_the_work_tree() -> None:
    folder = Path(wardround.__file__).parent
    head = subprocess.run(
        ["git", "-C", str(folder), "rev-parse", "HEAD"], capture_output=True, text=True
    ).stdout.strip()
    revision = code_facts().revision
    assert (revision or "").removesuffix("-dirty") == head


def test_an_image_tells_its_revision_and_may_be_told_its_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(REVISION, "c0ffee-dirty")
    monkeypatch.setenv(IMAGE_DIGEST, f"sha256:{SHA.upper()}")
    facts = code_facts()
    assert (facts.revision, facts.image_digest) == ("c0ffee-dirty", f"sha256:{SHA}")


def test_what_is_unknown_or_no_digest_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(REVISION, "unknown")
    monkeypatch.setenv(IMAGE_DIGEST, "/home/someone/image.tar")
    facts = code_facts()
    assert (facts.revision, facts.image_digest) == (None, None)
    assert len(facts.package_sha256) == 64


def test_files_that_git_does_not_keep_have_no_revision(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git = ["git", "-C", str(package.parent), "-c", "user.name=n", "-c", "user.email=e"]
    subprocess.run([*git, "init", "-q"], check=True)
    (package.parent / "other.txt").write_text("of another project")
    subprocess.run([*git, "add", "other.txt"], check=True)
    subprocess.run([*git, "commit", "-qm", "other"], check=True)
    monkeypatch.setattr(wardround, "__file__", str(package / "__init__.py"))
    assert code_facts().revision is None
