"""Every command that the documentation shows is run by CI, or is named with the reason why it cannot be."""

import collections

import pytest

from support.documentation import ROOT, blocks, page_names, rules, stray_commands


@pytest.mark.parametrize("page", page_names())
def test_commands_stand_where_they_are_run(page: str) -> None:
    assert stray_commands(page) == [], "put commands into a ```bash block"


def test_every_page_with_commands_is_run() -> None:
    shown = {page for page in page_names() if any(not b.kind and not b.is_make for b in blocks(page))}
    assert shown == set(rules()["run_in_order"]) | set(rules()["run_with_images"])


def test_what_make_is_asked_for_is_made_by_ci() -> None:
    made = {line.strip() for line in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()}
    asked = {c for page in page_names() for b in blocks(page) if b.is_make and not b.kind for c in b.commands}
    assert asked <= made, "a target that .ci/run does not make"


def test_what_is_not_run_is_listed_with_its_reason() -> None:
    shown = collections.defaultdict(set)
    for page in page_names():
        for block in blocks(page):
            if block.kind:
                shown[block.kind].update(block.commands)
    listed = rules()["not_run"]
    assert {kind: set(entry["commands"]) for kind, entry in listed.items()} == dict(shown)
    assert all(len(entry["reason"].split()) >= 5 for entry in listed.values())
