"""The `brain_tumor` section that a new site.yaml starts with, for the hospital's admin to finish."""

from wardround.records.yaml_text import as_scalar

QUESTION = "Folder with brain-tumor images"
IMAGE = "imaging"
_GENERATED = {
    "layout": "brats2023",
    "labels": "brats2023",
    "space": "SRI24",
    "protocol": "BraTS 2023",
    "status": "pre-operative",
}
_OPEN = {  # a hospital's own word, which no default may stand in for: refused by name until it is written
    "layout": " " * 9,
    "labels": " " * 9,
    "space": "    # SRI24, MNI152 or native",
    "protocol": "   # who drew the labels, by which rules",
    "status": "       # pre-operative, post-operative or mixed",
}
_SECTION = """\
  brain_tumor:
    folder: {data}{gap} # one folder a case
    layout: {layout}         # brats2018 (to 2021), brats2023 or msd
    labels: {labels}         # what label values mean, see the layout's names; never guessed
    declares:                 # what no file tells; must equal the study's contract
      registration_space: {space}
      annotation_protocol: {protocol}
      surgical_status: {status}
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
        generated: hold out as many cases as the generator means, rather than a fifth each, and say what its images
            are; otherwise what only the hospital can say stays empty.
    """
    if generated:
        validation, test = ("0.22", "0.44") if role == "train" else ("0", "0.57")
    else:
        validation, test = ("0.2", "0.2") if role == "train" else ("0", "0.9")
    gap = " " * max(0, 15 - len(data))
    own = _GENERATED if generated else _OPEN
    return _SECTION.format(data=as_scalar(data), gap=gap, validation=validation, test=test, **own)


def folder_of(data: str) -> str:
    """What a job's container has to see: the folder of the cases itself."""
    return data
