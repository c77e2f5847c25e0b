"""A generator of hospitals: stays with EHR-like columns and readmission within 30 days, drawn from a seed."""
