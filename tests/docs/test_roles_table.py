"""The table of roles in the security model is what FLARE's authorizer answers with the shipped files.

WARDROUND_WRITE_DOCS=1 writes the table into the page instead of comparing it.
"""

import json
import os
import re

import pytest

from roles_table import roles_table, shipped_policies
from support.documentation import ROOT

PAGE = ROOT / "docs" / "security.md"
_PART = re.compile(r"(<!-- roles: begin -->\n).*?(<!-- roles: end -->)", re.DOTALL)


def test_the_page_has_the_table() -> None:
    policies = shipped_policies(ROOT / "site_configs")
    assert {"server", "hospital-a", "hospital-b", "hospital-c"} <= set(policies)
    assert len({json.dumps(policy, sort_keys=True) for policy in policies.values()}) == 1, "one table is not enough"
    text = PAGE.read_text(encoding="utf-8")
    wanted = _PART.sub(lambda match: f"{match[1]}\n{roles_table(policies['server'])}\n{match[2]}", text)
    if os.environ.get("WARDROUND_WRITE_DOCS"):
        PAGE.write_text(wanted, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == wanted, "run this test with WARDROUND_WRITE_DOCS=1"


@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        ("any", "yes"),
        ("none", "no"),
        ("o:site", "at its organisation"),
        ("n:submitter", "own jobs"),
        ("o:submitter", "its organisation's jobs"),
    ],
)
def test_conditions_are_told_in_words(expression: str, answer: str) -> None:
    policy = {"format_version": "1.0", "permissions": {"lead": {"download_job": expression}}}
    row = next(line for line in roles_table(policy).splitlines() if "`download_job`" in line)
    assert row.split(" | ")[1:] == ["no", "no", answer, "no |"]


def test_a_command_that_differs_from_its_category_has_its_own_row() -> None:
    policy = {"format_version": "1.0", "permissions": {"lead": {"operate": "any", "shutdown": "none"}}}
    rows = [line for line in roles_table(policy).splitlines() if "stop, restart" in line]
    assert sorted("`shutdown`" in row for row in rows) == [False, True]
    assert next(row for row in rows if "`shutdown`" in row).count("yes") == 0


def test_a_condition_without_words_is_refused() -> None:
    policy = {"format_version": "1.0", "permissions": {"lead": {"view": ["o:site", "n:submitter"]}}}
    with pytest.raises(ValueError, match="lead, check_status"):
        roles_table(policy)
