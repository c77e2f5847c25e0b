"""How hospitals write the same facts: file format, column names, units, codes and the mark for a missing value."""

from collections.abc import Mapping
from dataclasses import dataclass, field

UNIT = {  # in the contract; a column without one is a category
    "age": "years",
    "prior_admissions": "admissions",
    "length_of_stay": "days",
    "creatinine": "umol/L",
    "hemoglobin": "g/dL",
    "sodium": "mmol/L",
    "glucose": "mmol/L",
    "hba1c": "%",
    "systolic_pressure": "mmHg",
    "medications": "medications",
}
DECIMALS = {"hemoglobin": 1, "glucose": 1, "hba1c": 1}  # of the contract's units; others are whole
LABORATORY = ("creatinine", "hemoglobin", "sodium", "glucose", "hba1c")
TIMES = {**dict.fromkeys(LABORATORY, "laboratory_date"), "systolic_pressure": "pressure_date"}


@dataclass(frozen=True)
class Unit:
    """A hospital's unit: `contract's value * factor + offset`, written with `decimals`."""

    name: str
    factor: float
    decimals: int
    offset: float = 0.0


@dataclass(frozen=True)
class Coding:
    """One hospital's way to write; what it does not say is as in the contract.

    Args:
        names: the contract's column names, or `patient` and the like, to the hospital's.
        codes: by column, the contract's values to the hospital's codes.
    """

    separator: str = ","
    decimal: str = "."
    byte_order_mark: bool = False
    missing: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, Unit] = field(default_factory=dict)
    codes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def name(self, column: str) -> str:
        """The hospital's name of a column."""
        return self.names.get(column, column)

    def number(self, column: str, value: float) -> str:
        """A number of the contract's unit as the hospital writes it."""
        unit = self.units.get(column, Unit(UNIT[column], 1.0, DECIMALS.get(column, 0)))
        return f"{value * unit.factor + unit.offset:.{unit.decimals}f}".replace(".", self.decimal)

    def code(self, column: str, value: str) -> str:
        """A value of the contract as the hospital writes it."""
        return self.codes.get(column, {}).get(value, value)


_MG_DL = {"creatinine": Unit("mg/dL", 1 / 88.42, 2), "glucose": Unit("mg/dL", 18.016, 0)}

CODINGS = {
    "contract": Coding(),
    "semicolons": Coding(  # as a German spreadsheet exports it
        separator=";",
        decimal=",",
        byte_order_mark=True,
        missing="k.A.",
        names={
            "patient": "PatientenNr",
            "stay": "FallNr",
            "discharge_date": "Entlassung",
            "laboratory_date": "Labor_Datum",
            "pressure_date": "RR_Datum",
            "age": "Alter",
            "sex": "Geschlecht",
            "prior_admissions": "Voraufenthalte",
            "length_of_stay": "Verweildauer",
            "admission_type": "Aufnahmeart",
            "creatinine": "Kreatinin",
            "hemoglobin": "Haemoglobin",
            "sodium": "Natrium",
            "glucose": "Glukose",
            "hba1c": "HbA1c",
            "systolic_pressure": "RR_systolisch",
            "medications": "Medikamente",
            "heart_failure": "Herzinsuffizienz",
            "discharge_to": "Entlassziel",
            "insurance": "Versicherung",
            "readmitted": "Wiederaufnahme_30T",
        },
        units={**_MG_DL, "hemoglobin": Unit("g/L", 10.0, 0)},
        codes={
            "sex": {"female": "w", "male": "m"},
            "admission_type": {"elective": "geplant", "urgent": "dringend", "emergency": "Notfall"},
            "heart_failure": {"yes": "ja", "no": "nein"},
            "discharge_to": {"home": "Hause", "home_care": "Pflegedienst", "nursing_facility": "Pflegeheim"},
            "insurance": {"public": "GKV", "private": "PKV", "self_pay": "ohne"},
            "readmitted": {"yes": "ja", "no": "nein"},
        },
    ),
    "conventional_units": Coding(  # as a data warehouse in the United States exports it
        missing="-9",
        names={
            "patient": "MRN",
            "stay": "ENCOUNTER_ID",
            "discharge_date": "DISCH_DT",
            "laboratory_date": "LAB_DT",
            "pressure_date": "VITALS_DT",
            "age": "AGE_YRS",
            "sex": "SEX_CD",
            "prior_admissions": "ADMITS_12MO",
            "length_of_stay": "LOS_DAYS",
            "admission_type": "ADMIT_TYPE_CD",
            "creatinine": "CREAT",
            "hemoglobin": "HGB",
            "sodium": "NA_SERUM",
            "glucose": "GLU",
            "hba1c": "A1C",
            "systolic_pressure": "SBP",
            "medications": "MED_CNT",
            "heart_failure": "HF_FLG",
            "discharge_to": "DISCH_DISP_CD",
            "insurance": "PAYER_CD",
            "readmitted": "READMIT30_FLG",
        },
        units={**_MG_DL, "sodium": Unit("mEq/L", 1.0, 0)},
        codes={
            "sex": {"female": "2", "male": "1"},
            "admission_type": {"elective": "3", "urgent": "2", "emergency": "1"},
            "heart_failure": {"yes": "1", "no": "0"},
            "discharge_to": {"home": "1", "home_care": "6", "nursing_facility": "3"},
            "insurance": {"public": "GOV", "private": "COM", "self_pay": "SELF"},
            "readmitted": {"yes": "1", "no": "0"},
        },
    ),
    "tabs": Coding(  # HbA1c in mmol/mol, as in the United Kingdom
        separator="\t",
        missing="?",
        names={"patient": "patient_id", "systolic_pressure": "sbp", "hba1c": "hba1c_ifcc", "sex": "gender"},
        units={"hba1c": Unit("mmol/mol", 10.929, 0, offset=-23.50), "hemoglobin": Unit("g/L", 10.0, 0)},
        codes={"sex": {"female": "F", "male": "M"}, "heart_failure": {"yes": "Y", "no": "N"}},
    ),
}
