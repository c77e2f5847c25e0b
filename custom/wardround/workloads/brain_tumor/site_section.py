"""The `brain_tumor` section that a new site.yaml starts with, for the hospital's admin to finish."""

from wardround.records.yaml_text import as_scalar

QUESTION = "Folder with brain-tumor images"
IMAGE = "imaging"
_SECTION = """\
  brain_tumor:
    folder: {data}{gap} # one folder a case
    layout: brats2023         # brats2018 (to 2021), brats2023 or msd
    labels: brats2023         # what label values mean, see the layout's names; never guessed
    declares:                 # what no file tells; must equal the study's contract
      registration_space: SRI24
      annotation_protocol: BraTS 2023
      surgical_status: pre-operative
    split:                    # by patient; or three explicit lists: train, validation, test
      validation_fraction: {validation}
      test_fraction: {test}
      seed: 0
"""


def section_text(data: str, *, role: str, generated: bool) -> str:
    """The section as text.

    Args:
        data: folder of the cases.
        role: train or evaluate; one that is only scored needs no validation cases.
        generated: hold out as many cases as the generator means, rather than a fifth each.
    """
    if generated:
        validation, test = ("0.22", "0.44") if role == "train" else ("0", "0.57")
    else:
        validation, test = ("0.2", "0.2") if role == "train" else ("0", "0.9")
    gap = " " * max(0, 15 - len(data))
    return _SECTION.format(data=as_scalar(data), gap=gap, validation=validation, test=test)


def folder_of(data: str) -> str:
    """What a job's container has to see: the folder of the cases itself."""
    return data
