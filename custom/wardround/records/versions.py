"""Which versions of what matters here are installed."""

from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("wardround", "torch", "monai", "nvflare")
"""Those whose versions a site tells."""


def package_versions() -> dict[str, str]:
    """Package name to version; what is not installed, or run from the source tree, is left out."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
