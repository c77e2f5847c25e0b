"""Who may do what, asked of FLARE's own authorizer with the authorization files that this project ships."""

import itertools
import json
from pathlib import Path

from nvflare.fuel.sec.authz import AuthzContext, Person
from nvflare.security.security import COMMAND_CATEGORIES, FLAuthorizer

ROLES = ("project_admin", "org_admin", "lead", "member")
_WORDS = {
    "submit_job": "submit a job",
    "clone_job": "submit an earlier job again",
    "manage_job": "abort or delete a job",
    "download_job": "download a job's result",
    "view": "look: jobs, connections, figures of a running job",
    "operate": "stop, restart or shut out a server or site",
    "shell_commands": "read files of a server or site through FLARE",
    "get_job_log": "read a job's log at the server",
    "byoc": "send code in a job",
}
_UNSORTED = ("submit_job", "clone_job", "get_job_log", "byoc")  # rights that FLARE puts in no category
_SELF, _COLLEAGUE, _OTHER = "self", "colleague", "other"
_CASES = tuple(itertools.product((_SELF, _COLLEAGUE, _OTHER), (True, False)))  # who submitted; at its own organisation


def roles_table(policy: dict[str, object]) -> str:
    """A Markdown table: a row for each group of FLARE commands, a column for each role.

    Args:
        policy: the content of an authorization.json.

    Raises:
        SyntaxError: FLARE does not take the policy.
        ValueError: a right depends on something that the table has no words for.
    """
    lines = ["| may | " + " | ".join(f"`{role}`" for role in ROLES) + " |", "|---|" + "---|" * len(ROLES)]
    for words, rights in _groups(policy):
        lines.append(f"| {words} | " + " | ".join(_answer(policy, role, rights[0]) for role in ROLES) + " |")
    return "\n".join(lines) + "\n"


def shipped_policies(site_configs: Path) -> dict[str, dict[str, object]]:
    """The content of each shipped authorization.json by its folder's name."""
    files = sorted(site_configs.glob("*/authorization.json"))
    return {file.parent.name: json.loads(file.read_text(encoding="utf-8")) for file in files}


def _groups(policy: dict[str, object]) -> list[tuple[str, list[str]]]:
    """Rights that every role has alike, with the words for them. A category that is not alike is told in parts."""
    found = []
    for name in [*_UNSORTED[:2], *dict.fromkeys(COMMAND_CATEGORIES.values()), *_UNSORTED[2:]]:
        commands = [command for command, category in COMMAND_CATEGORIES.items() if category == name] or [name]
        by_answer: dict[tuple[str, ...], list[str]] = {}
        for command in commands:
            by_answer.setdefault(tuple(_answer(policy, role, command) for role in ROLES), []).append(command)
        for rights in by_answer.values():
            listed = ", ".join(f"`{right}`" for right in sorted(rights))
            found.append((f"{_WORDS[name]}: {listed}", rights))
    return found


def _answer(policy: dict[str, object], role: str, right: str) -> str:
    allowed = {case for case in _CASES if _is_allowed(policy, role, right, *case)}
    if not allowed:
        return "no"
    if allowed == set(_CASES):
        return "yes"
    if allowed == {case for case in _CASES if case[1]}:
        return "at its organisation"
    if allowed == {case for case in _CASES if case[0] == _SELF}:
        return "own jobs"
    if allowed == {case for case in _CASES if case[0] != _OTHER}:
        return "its organisation's jobs"
    raise ValueError(f"{role}, {right}: allowed in {sorted(allowed)}, for which there are no words")


def _is_allowed(policy: dict[str, object], role: str, right: str, submitter: str, at_home: bool) -> bool:
    people = {
        _SELF: Person("user", "home", role),
        _COLLEAGUE: Person("colleague", "home", role),
        _OTHER: Person("other", "elsewhere", role),
    }
    authorizer = FLAuthorizer("home" if at_home else "elsewhere", policy)
    context = AuthzContext(right=right, user=people[_SELF], submitter=people[submitter])
    return bool(authorizer.authorize(context)[0])
