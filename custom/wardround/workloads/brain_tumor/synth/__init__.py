"""A generator of hospitals: BraTS 2023 style brain MRI that differs by scanner and patients, drawn from a seed."""
