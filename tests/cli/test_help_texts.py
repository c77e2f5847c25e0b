"""What the help of commands must say, since a user would be wrong without it."""

import pytest
import typer

from wardround.cli.main import app


def _help(*names: str) -> str:
    """A command's own text and those of its parameters, with their shown defaults, as the reference page has them."""
    command = typer.main.get_command(app)
    for name in names:
        command = command.commands[name]
    texts = [command.help or ""]
    for one in command.params:
        texts += [getattr(one, "help", None) or "", str(getattr(one, "show_default", "") or "")]
    return " ".join(" ".join(texts).split())


@pytest.mark.parametrize(
    ("command", "statements"),
    [
        ("site status", ["consents", "a line says `consent` for each study that somebody approved or revoked here"]),
        (
            "release make",
            [
                "without one the criteria are checked, nothing is written, and how to make a key is told",
                "those of the best model or of the last, since the run keeps no other",
                "without any, nothing is released",
                "nothing is written with 1 and 2",
            ],
        ),
        ("release", ["--approver NAME --key FILE"]),
        ("release verify", ["got from whoever signs releases by another way", "it was signed by somebody else"]),
        ("rollback", ["nothing is deleted", "signature not checked, checksums alone"]),
        (
            "resume",
            ["stopped, failed or ended partial", "only federation.* can change", "such as federation.quorum=4"],
        ),
        ("site init", ["a relative path starts from where you are"]),
    ],
)
def test_a_commands_help_says_what_a_user_would_else_get_wrong(command: str, statements: list[str]) -> None:
    text = _help(*command.split()).lower()
    assert [one for one in statements if one.lower() not in text] == []
    assert "algorithm.kind" not in text  # an example must be one that the command takes
