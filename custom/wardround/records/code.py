"""Which code this process runs: hashed over the installed files, with the revision and image where they are known."""

import hashlib
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

import wardround
from wardround.records.codes import Count

REVISION = "WARDROUND_REVISION"  # set in the images by docker/Dockerfile
IMAGE_DIGEST = "WARDROUND_IMAGE_DIGEST"  # an image cannot know its own: whoever starts the container may tell it
_MADE = ("__pycache__", ".pyc")  # by Python as it runs: no part of what was installed
_GIT_SECONDS = 10


class CodeFacts(BaseModel):
    """The code of one process.

    Args:
        package_sha256: over the installed package's files, see `package_sha256`.
        files: how many that are.
        revision: of git, of the work tree that the package lies in or of the image's build; `-dirty` where files differ
            from it. None where neither is known.
        image_digest: of the container's image, as the variable WARDROUND_IMAGE_DIGEST tells it; None outside of a
            container, and in one that was not told.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    package_sha256: str = Field(pattern=r"^[a-f0-9]{64}$")
    files: Count
    revision: str | None = Field(None, pattern=r"^[a-z0-9-]{1,64}$")
    image_digest: str | None = Field(None, pattern=r"^sha256:[a-f0-9]{64}$")


@cache
def code_facts() -> CodeFacts:
    """Those of this process."""
    folder = Path(wardround.__file__).parent
    digest, files = package_sha256(folder)
    stated = os.environ.get(IMAGE_DIGEST, "").strip().lower()
    facts = CodeFacts(package_sha256=digest, files=files)
    for update in ({"revision": _revision(folder)}, {"image_digest": stated or None}):
        try:
            facts = CodeFacts.model_validate({**facts.model_dump(), **update})
        except ValueError:  # a value that is no revision or digest is as good as none
            continue
    return facts


def package_sha256(folder: Path) -> tuple[str, int]:
    """SHA-256 over the relative path and content of each file in the order of paths, and how many files there are.

    Equal for equal code, wherever it is installed and whatever Python has compiled of it.
    """
    digest, files = hashlib.sha256(), 0
    for file in sorted(folder.rglob("*"), key=lambda path: path.relative_to(folder).as_posix()):
        if not file.is_file() or any(part in _MADE for part in (*file.parts, file.suffix)):
            continue
        content = file.read_bytes()
        digest.update(f"{file.relative_to(folder).as_posix()}\0{len(content)}\0".encode() + content)
        files += 1
    return digest.hexdigest(), files


def _revision(folder: Path) -> str | None:
    """The image's, or that of the work tree which git keeps these very files in."""
    if stated := os.environ.get(REVISION, "").strip():
        return stated if stated != "unknown" else None
    git = shutil.which("git")
    if git is None:
        return None
    kept = _ask(git, folder, "ls-files", "--error-unmatch", "--", "__init__.py")
    return _ask(git, folder, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*") if kept else None


def _ask(git: str, folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603 - our own arguments
            [git, "-C", str(folder), *arguments], capture_output=True, text=True, timeout=_GIT_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None
