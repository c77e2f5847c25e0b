"""Templates of pages that need nothing else: whatever is put into one is escaped, and a slip in a name fails."""

from jinja2 import Environment, PackageLoader, StrictUndefined


def environment() -> Environment:
    """A new one, to which a page may add its own filters and functions."""
    return Environment(
        loader=PackageLoader("wardround.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
