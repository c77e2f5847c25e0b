"""The `clinical_risk` section that a new site.yaml starts with, for the hospital's admin to finish."""

from pathlib import PurePath

from wardround.records.yaml_text import as_scalar

QUESTION = "Table of stays (csv, parquet)"
IMAGE = "tabular"
_SECTION = """\
  clinical_risk:              # its table of stays
    source:
      kind: {kind}               # csv, parquet or sql
      file: {data}
    patient: patient          # all rows of a patient are in the same part of the split
    row_id: stay              # identifies a stay
    index_date: discharge_date # the risk is asked for on this day
    known_at_index: true      # of the columns that have no `time`: they are from admission or discharge itself
    columns:                  # of the contract, to this hospital's: name, unit, codes, mark for missing, time
      age: {{column: age}}
      sex: {{column: sex}}
      prior_admissions: {{column: prior_admissions}}
      length_of_stay: {{column: length_of_stay}}
      admission_type: {{column: admission_type}}
      creatinine: {{column: creatinine, time: laboratory_date}}
      hemoglobin: {{column: hemoglobin, time: laboratory_date}}
      sodium: {{column: sodium, time: laboratory_date}}
      glucose: {{column: glucose, time: laboratory_date}}
      hba1c: {{column: hba1c, time: laboratory_date}}
      systolic_pressure: {{column: systolic_pressure, time: pressure_date}}
      medications: {{column: medications}}
      heart_failure: {{column: heart_failure}}
      discharge_to: {{column: discharge_to}}
      insurance: {{column: insurance}}
    outcome: {{column: readmitted}}
"""


def section_text(data: str, *, role: str, generated: bool) -> str:  # noqa: ARG001  as every workload's
    """The section as text, with the contract's own names for this hospital's columns.

    Args:
        data: the table, a CSV or Parquet file.
        role, generated: make no difference here.
    """
    kind = "parquet" if PurePath(data).suffix == ".parquet" else "csv"
    return _SECTION.format(data=as_scalar(data), kind=kind)


def folder_of(data: str) -> str:
    """What a job's container has to see: the folder that the table lies in."""
    return str(PurePath(data).parent)
