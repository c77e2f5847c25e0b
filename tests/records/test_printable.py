import os

import pytest

from wardround.records.printable import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J\x1b[31mred", r"\x1b[2J\x1b[31mred"),
        ("\x9b2J", r"\x9b2J"),
        ("a\rb\x00\x7f", r"a\x0db\x00\x7f"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
        (os.fsdecode(b"M\xfcller"), r"M\xfcller"),
        ("\ud800", r"\ud800"),
        ("Müller, 東京\n\tµmol/L", "Müller, 東京\n\tµmol/L"),
    ],
)
def test_what_would_be_obeyed_or_cannot_be_written_is_shown_by_its_number(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert printable(text).encode()
