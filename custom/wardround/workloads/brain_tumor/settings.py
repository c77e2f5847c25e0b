"""What a person decides about brain-tumor segmentation: the study's side (job.yaml) and the site's (site.yaml)."""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from wardround.records.declared import DeclaredData
from wardround.records.section import SAID_OR_LEFT_OUT, Section
from wardround.workloads.opt_out import DESCRIPTION

REGIONS = ("tc", "wt", "et")  # tumor core, whole tumor, enhancing tumor: the channel order of every label and output
SEQUENCES = ("t1n", "t1c", "t2w", "t2f")  # BraTS 2023 names: T1, T1 with contrast, T2, T2-FLAIR
GROUPS = 8  # of GroupNorm
Triple = tuple[int, int, int]
_Side = Annotated[int, Field(ge=1)]
_Width = Annotated[int, Field(ge=1, le=4096)]  # a layer of more channels fits no device
_Millimeters = Annotated[float, Field(gt=0, allow_inf_nan=False)]


RegistrationSpace = Literal["SRI24", "MNI152", "native"]
SurgicalStatus = Literal["pre-operative", "post-operative", "mixed"]


class ImageContract(Section):
    """What every hospital's images must be, so that one network can read them all."""

    sequences: tuple[str, ...] = Field(SEQUENCES, min_length=1, description="input channels, in this order")
    registration_space: RegistrationSpace = Field("SRI24", description="atlas to which images were registered")
    spacing_mm: tuple[_Millimeters, _Millimeters, _Millimeters] = Field(
        (1.0, 1.0, 1.0), description="voxel size after resampling"
    )
    orientation: Literal["RAS", "LPS"] = Field("RAS", description="images of another one are turned to it")
    skull_stripped: Literal[True] = Field(True, description="non-zero z-scores assume a zero background")
    annotation_protocol: str = Field("BraTS 2023", description="who drew the labels, by which rules")
    surgical_status: SurgicalStatus = Field("pre-operative", description="images from before or after surgery")

    @model_validator(mode="after")
    def _each_sequence_once(self) -> Self:
        if len(set(self.sequences)) < len(self.sequences):
            raise ValueError(f"contract.sequences: expected each name once, found {', '.join(self.sequences)}")
        return self


class UNetSettings(Section):
    """MONAI `UNet`. The default of BatchNorm is deliberate: MONAI's own has no entries for FedBN to keep."""

    channels: tuple[_Width, ...] = Field((16, 32, 64, 128), min_length=2, description="of each level, from the top")
    strides: tuple[_Side, ...] = Field((2, 2, 2), description="from each level to the next: one fewer than channels")
    residual_units: int = Field(0, ge=0, description="of each level; 0: plain convolutions")
    norm: Literal["batch", "instance", "group"] = Field("batch", description="FedBN needs batch")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if len(self.strides) != len(self.channels) - 1:
            raise ValueError(f"network: {len(self.channels)} channels need one stride fewer, found {len(self.strides)}")
        if self.norm == "group" and (self.residual_units or any(count % GROUPS for count in self.channels)):
            raise ValueError(
                f"network.norm group: needs channels in multiples of {GROUPS} and residual_units 0 (with them, the "
                f"{len(REGIONS)} output channels are normalised too), found {self.channels} and {self.residual_units}"
            )
        return self


class Patch(Section):
    """Random crops for training; inference slides a window of the same size."""

    size: tuple[_Side, _Side, _Side] = Field(
        (32, 32, 32), description="in voxels; each side a multiple of the product of strides"
    )
    tumor_share: float = Field(0.5, ge=0, le=1, description="share of crops centred near a tumor voxel")


class Augmentation(Section):
    """Random changes per training step."""

    flip: bool = Field(True, description="along each axis, at even odds")
    scale: float = Field(0.1, ge=0, lt=1, description="each channel times 1 +- scale")
    shift: float = Field(
        0.1, ge=0, allow_inf_nan=False, description="each channel plus +- shift, in standard deviations"
    )


class Inference(Section):
    """Sliding window over whole volumes."""

    overlap: float = Field(0.25, ge=0, lt=1, description="share of a window's side that its neighbour covers too")
    windows_at_once: int = Field(4, ge=1, description="more are faster on a GPU and take more of its memory")


class BrainTumorSettings(Section):
    """The `workload` section of job.yaml for kind brain_tumor."""

    contract: ImageContract = ImageContract()
    network: UNetSettings = UNetSettings()
    patch: Patch = Patch()
    augmentation: Augmentation = Augmentation()
    inference: Inference = Inference()

    @model_validator(mode="after")
    def _patch_divides(self) -> Self:
        factor = 1
        for stride in self.network.strides:
            factor *= stride
        if any(side % factor for side in self.patch.size):
            raise ValueError(
                f"patch.size {self.patch.size}: each side must be a multiple of the product of strides, {factor}"
            )
        return self


LabelConvention = Literal["brats2018", "brats2023", "msd"]


class Split(Section):
    """How patients are divided, by patient and never by case. Explicit lists win over fractions."""

    validation_fraction: float = Field(0.2, ge=0, lt=1, description="of the patients, to choose the best round by")
    test_fraction: float = Field(0.2, ge=0, lt=1, description="of the patients, scored and never trained on")
    seed: int = Field(0, description="of the draw by fractions; the same draws the same patients")
    train: tuple[str, ...] | None = Field(None, description="patient ids; give all three lists or none")
    validation: tuple[str, ...] | None = Field(None, description="patient ids")
    test: tuple[str, ...] | None = Field(None, description="patient ids; who is in no list is not used")


class ImageDeclaration(Section):
    """What no file tells: the hospital's own word on its images, which must equal the study's contract."""

    registration_space: RegistrationSpace = Field(description="atlas to which the images were registered")
    annotation_protocol: str = Field(description="who drew the labels, by which rules, in the contract's words")
    surgical_status: SurgicalStatus = Field(description="images from before or after surgery")


class BrainTumorSiteSettings(DeclaredData):
    """The `brain_tumor` section of a hospital's site.yaml."""

    folder: Path = Field(description="where the cases lie, at any depth")
    layout: Literal["brats2018", "brats2023", "msd"] = Field(description="how the files are named and laid out")
    labels: LabelConvention = Field(
        description="brats2018: 1 NCR 2 ED 4 ET; brats2023: 1 NCR 2 ED 3 ET; msd: 1 ED 2 NET 3 ET"
    )
    aliases: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="sequence name to this site's file suffixes or channel names, e.g. t1c: [t1ce, t1gd]",
    )
    normalisation: Literal["z_score", "min_max"] = Field(
        "z_score",
        description="min_max is what a site does that skips the agreed preprocessing: for studying the harm only",
    )
    allow_missing: tuple[str, ...] = Field(
        (), description="sequences that a case may lack; a zero channel stands in, and is counted"
    )
    declares: ImageDeclaration | None = Field(None, description="needed to take part in a study, not to predict")
    split: Split = Split()
    opt_out_file: Annotated[Path | None, SAID_OR_LEFT_OUT] = Field(None, description=DESCRIPTION)
