"""What the documentation's commands make in a checkout cannot be committed by mistake: private keys are among it."""

import re
import subprocess

from support.documentation import ROOT, blocks, page_names

_OUTPUT = re.compile(r"(?:\s(?:-o|-w|-out|--out|--output|--html)|\smkdir(?: -p)?|[^2<>&-]>)\s+([\w./-]+)")


def test_every_output_is_ignored() -> None:
    named = {name.rstrip("/") for name in _outputs()} | {"release.key", "images.key", "consortium/ca/rootCA.key"}
    assert len(named) > 40
    assert not {name for name in named if not _is_ignored(name) and not _is_ignored(f"{name}/file")}


def _outputs() -> set[str]:
    """Of the checkout's folder; what is made in site_configs/ are settings, which may be kept."""
    text = "\n".join(command for page in page_names() for block in blocks(page) for command in block.commands)
    return {name for name in _OUTPUT.findall(text) if not name.startswith(("/", ".", "site_configs/"))}


def _is_ignored(name: str) -> bool:
    done = subprocess.run(["git", "check-ignore", "--quiet", "--no-index", name], cwd=ROOT, check=False)
    return done.returncode == 0
