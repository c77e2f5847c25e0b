"""The `clinical_risk` section that a new site.yaml starts with, for the hospital's admin to finish."""

from pathlib import PurePath

from wardround.records.yaml_text import as_scalar

QUESTION = "Table of stays (csv, parquet)"
IMAGE = "tabular"
_GENERATED = "true      # of the columns that have no `time`: they are from admission or discharge itself"
_OPEN = "false     # true declares that the columns without a `time` are known by the index date"
_SECTION = """\
  clinical_risk:              # its table of stays
    source:
      kind: {kind}               # csv, parquet or sql
      file: {data}
    patient: patient          # all rows of a patient are in the same part of the split
    row_id: stay              # identifies a stay
    index_date: discharge_date # the risk is asked for on this day
    known_at_index: {known}
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


def section_text(data: str, *, role: str, generated: bool) -> str:  # noqa: ARG001  role, as every workload's
    """The section as text, with the contract's own names for this hospital's columns.

    Args:
        data: the table, a CSV or Parquet file.
        role: makes no difference here.
        generated: declare what the generator knows of its times, which only the hospital can say of its own.
    """
    kind = "parquet" if PurePath(data).suffix == ".parquet" else "csv"
    return _SECTION.format(data=as_scalar(data), kind=kind, known=_GENERATED if generated else _OPEN)


def folder_of(data: str) -> str:
    """What a job's container has to see: the folder that the table lies in."""
    return str(PurePath(data).parent)
