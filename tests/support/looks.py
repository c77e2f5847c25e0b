"""A look at a released model as a hospital keeps it to be shared."""

from typing import Any

from wardround.records.shared_monitoring import SharedMonitoring


def a_look(study: str, **changes: Any) -> SharedMonitoring:
    """Of 40 patients: one criterion is no longer met, and two of four inputs moved."""
    told: dict[str, Any] = {
        "study": study,
        "version": "v2",
        "release_sha256": "c0ffee00c0ffee",
        "date": "2030-01-31",
        "patients": 40,
        "cases": 53,
        "criteria": [{"metric": "brier", "met": False, "support": 40}],
        "inputs": {"large": 1, "moderate": 1, "stable": 2},
    }
    return SharedMonitoring.model_validate(told | changes)
