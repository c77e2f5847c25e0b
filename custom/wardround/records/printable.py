"""Text from files as a terminal, a JSON file and a page can show it."""

import re

# C0 and C1 control characters but tab and line feed, marks that turn the direction of text, and lone surrogates,
# which stand for bytes of a file's name that are no UTF-8
_UNSHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    r"""The text with `\x1b` and the like in place of what would not be shown but obeyed, or cannot be written at all.

    A terminal takes control characters of a table's value for commands, such as to clear what it shows.
    """
    return _UNSHOWN.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    if 0xDC80 <= code <= 0xDCFF:  # a byte that was no UTF-8
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
