"""What a site's answers in a study of clinical risk are written in: its columns and groups are the contract's."""

from collections.abc import Mapping
from typing import Any

from wardround.workloads.clinical_risk.contract import OTHER, CategoryColumn, CohortColumn, NumberColumn
from wardround.workloads.clinical_risk.settings import ClinicalRiskSettings
from wardround.workloads.input_cells import CELL, tally_name
from wardround.workloads.words import Words

FIGURES = (
    *("auroc", "auprc", "brier", "log_loss", "accuracy", "prevalence"),
    *("brier_skill", "brier_reliability", "brier_resolution", "brier_within_bin", "brier_uncertainty"),
    *("calibration_error", "calibration_slope", "calibration_intercept"),
    *("sensitivity", "specificity", "ppv", "npv", "alerts_per_100"),
)
_CELL = r"(negative|positive)(_sum)?_\d{1,4}_\d{1,4}"


def words(settings: Mapping[str, Any]) -> Words:
    """Names of figures, and of the contract's columns, bands and values."""
    contract = ClinicalRiskSettings.model_validate(dict(settings)).contract
    numbers = [name for name, column in contract.columns.items() if isinstance(column, NumberColumn)]
    sums = {"score_bins": _CELL, "squared_error": "sum"}
    sums[f"{'|'.join(map(tally_name, contract.columns))}"] = CELL
    if numbers:
        sums[f"column_({'|'.join(numbers)})"] = "sum|sum_of_squares"
    return Words(
        figures=frozenset(FIGURES),
        sums=sums,
        cohorts={
            cohort.name: frozenset(_parts(cohort, contract.columns[cohort.column])) for cohort in contract.cohorts
        },
        codes=frozenset({"classes_separable", "constant_probability"}),
    )


def _parts(cohort: CohortColumn, column: NumberColumn | CategoryColumn) -> list[str]:
    return [*column.values, OTHER] if isinstance(column, CategoryColumn) else cohort.bands
