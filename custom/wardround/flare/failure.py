"""Why FLARE gave up, in one line from its log: the cause, without a path."""

import re
import signal
from pathlib import Path

# the server's word where it is on this machine; at the hospital, log.txt and site.log tell more
_AT_A_SITE = r"Failing job \S+ due to reported failure from (?P<cause>[^\s:]+)"
# the most telling first; each finds the text after the marker to the end of its line
_CAUSES = (
    r"ModuleNotFoundError: (?P<cause>No module named .+)",
    r"UnsafeComponentError: (?P<cause>.+)",
    r"ComponentNotAuthorized: (?P<cause>.+)",
    r"(?P<cause>Component '[^']+' .* is not in allow_list)",
    r"ConfigError: (?P<cause>.+)",
    r"(?P<cause>Exception in model controller run: .+)",
    r"Simulator (?:setup|run) error: (?P<cause>.+)",
    r"(?P<cause>Address already in use)",
    _AT_A_SITE,
    r"(?m)^job \S+: (?P<cause>FINISHED:(?!COMPLETED).+)",  # as a session with the server notes it
)
_START = r"(?<![\w.])(?:[A-Za-z]:\\|~?/)"
_QUOTED_PATH = re.compile(rf"(?P<quote>['\"]){_START}.*?(?P=quote)")
# after a space, words that lead to another separator are the path's, too: rather too much is masked than a name told
_PATH = re.compile(rf"{_START}[^\s'\",;:)]+(?:(?:\s+[^\s'\",;:)/\\]+){{0,3}}\s+[^\s'\",;:)/\\]*[/\\][^\s'\",;:)]*)*")


def cause_of(log: Path) -> str | None:
    """The likeliest cause in FLARE's log, or None where it tells none.

    Paths are masked: they can name a hospital's folders, and a report may quote this line.
    """
    text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
    for pattern in _CAUSES:
        match = re.search(pattern, text)
        if match:
            cause = mask_paths(match["cause"].strip())[:300]
            return f"the job's process at {cause} failed or was ended" if pattern is _AT_A_SITE else cause
    return None


def in_words(exit_code: int | None) -> str:
    """What the end of FLARE's main process says, where its log says nothing. It passes on its server's exit code."""
    number = -exit_code if exit_code is not None and exit_code < 0 else 256 - (exit_code or 0)
    try:
        name = signal.Signals(number).name
    except ValueError:
        return "it does not say why; see flare.log in the results' folder"
    killed = " by somebody, or by the system where memory was short" if number == signal.SIGKILL else ""
    return f"its server process was ended{killed} (signal {number}, {name})"


def mask_paths(text: str) -> str:
    """Replaces file paths by `<path>`, spaces in them included; of an unquoted one, words after its last separator
    and a space cannot be told from the sentence's."""
    return _PATH.sub("<path>", _QUOTED_PATH.sub(r"\g<quote><path>\g<quote>", text))
