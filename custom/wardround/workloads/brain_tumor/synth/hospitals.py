"""What makes one generated hospital differ from another: its scanner, its protocol and its patients."""

import zlib
from dataclasses import dataclass, fields, replace

import numpy as np

Quadruple = tuple[float, float, float, float]
Interval = tuple[float, float]


@dataclass(frozen=True)
class HospitalSettings:
    """One hospital. Lengths are in units of half the field of view, where a brain's half-width is about 0.8.

    Args:
        name: seeds the hospital's cases together with the study's seed.
        noise: sigma of the Rician noise, as a share of white matter's T1 intensity.
        bias_field: log-amplitude of the smooth intensity drift over the volume.
        blur_voxels: sigma of the Gaussian point spread function by axis.
        slice_factor: thick slices: this many voxels along z are averaged, then interpolated back.
        edema_contrast, enhancing_contrast, necrosis_contrast: 1 as in a textbook, 0 invisible in white matter.
        gray_white_contrast: of T1 and contrast-enhanced T1; below 0 gray matter is the brighter one.
        gamma: intensity curve by sequence (t1n, t1c, t2w, t2f).
        gain: scanner units per unit of intensity.
        tumor_radius: range of the whole tumor's radius.
        core_fraction: range of the core's radius as a share of the whole tumor's.
        no_enhancing_share: share of cases without enhancing tumor, whose ET label is empty.
        white_matter_spots: range of the number of FLAIR-bright spots that are no tumor.
        vessels: range of the number of thin streaks that are bright on t1c and no tumor.
    """

    name: str
    noise: float = 0.04
    bias_field: float = 0.10
    blur_voxels: tuple[float, float, float] = (0.4, 0.4, 0.4)
    slice_factor: int = 1
    edema_contrast: float = 1.0
    enhancing_contrast: float = 1.0
    necrosis_contrast: float = 1.0
    gray_white_contrast: float = 1.0
    gamma: Quadruple = (1.0, 1.0, 1.0, 1.0)
    gain: float = 600.0
    tumor_radius: Interval = (0.26, 0.46)
    core_fraction: Interval = (0.50, 0.75)
    no_enhancing_share: float = 0.10
    white_matter_spots: tuple[int, int] = (0, 3)
    vessels: tuple[int, int] = (2, 6)


HOSPITALS: dict[str, HospitalSettings] = {
    settings.name: settings
    for settings in (
        HospitalSettings("hospital-a"),
        HospitalSettings(
            "hospital-b",
            noise=0.07,
            bias_field=0.25,
            blur_voxels=(0.5, 0.5, 0.5),
            edema_contrast=0.8,
            enhancing_contrast=0.75,
            gray_white_contrast=0.5,
            gamma=(1.4, 1.4, 0.75, 0.75),
            gain=250.0,
            tumor_radius=(0.26, 0.40),
            core_fraction=(0.50, 0.70),
            no_enhancing_share=0.25,
            white_matter_spots=(1, 4),
        ),
        HospitalSettings(
            "hospital-c",
            noise=0.05,
            bias_field=0.20,
            blur_voxels=(0.5, 0.5, 0.3),
            slice_factor=2,
            edema_contrast=0.9,
            enhancing_contrast=0.8,
            gray_white_contrast=-0.5,
            gamma=(0.65, 0.7, 1.4, 1.5),
            gain=1500.0,
            tumor_radius=(0.32, 0.52),
            core_fraction=(0.60, 0.80),
            no_enhancing_share=0.05,
            vessels=(4, 10),
        ),
        HospitalSettings(
            "hospital-d",
            noise=0.06,
            bias_field=0.18,
            blur_voxels=(0.35, 0.35, 0.6),
            edema_contrast=0.9,
            enhancing_contrast=0.85,
            gray_white_contrast=0.75,
            gamma=(0.85, 1.2, 1.15, 1.25),
            gain=900.0,
            tumor_radius=(0.28, 0.48),
            core_fraction=(0.55, 0.75),
            no_enhancing_share=0.15,
            white_matter_spots=(0, 4),
        ),
    )
}
EVALUATE_ONLY = "hospital-d"
_GOLDEN_RATIO = (5**0.5 - 1) / 2
_SEQUENTIAL_NAMES = "abcdefghijklmnopqrstuvwxyz"


def choose_hospitals(count: int, *, seed: int, shift: float = 1.0) -> list[HospitalSettings]:
    """The first `count` hospitals: a to d as set above, further ones drawn from the seed.

    Args:
        count: how many, 1 to 26. The fourth only evaluates.
        seed: decides the drawn ones.
        shift: how far apart they are: 0 gives all of them hospital-a's scanner and patients, 1 their own, more
            exaggerates. Values are blended linearly and kept in range.
    """
    if not 1 <= count <= len(_SEQUENTIAL_NAMES):
        raise ValueError(f"hospitals: expected 1 to {len(_SEQUENTIAL_NAMES)}, found {count}")
    names = [f"hospital-{letter}" for letter in _SEQUENTIAL_NAMES[:count]]
    return [_shifted(HOSPITALS.get(name) or _drawn(name, seed), shift) for name in names]


def case_generator(settings: HospitalSettings, seed: int, index: int) -> np.random.Generator:
    """The random numbers of one case: a function of the seed, the hospital's name and the case's place in it."""
    return np.random.default_rng([seed, zlib.crc32(settings.name.encode()), index])


def has_enhancing(settings: HospitalSettings, seed: int, index: int) -> bool:
    """Whether a case has enhancing tumor: false for `no_enhancing_share` of any few cases in a row.

    Multiples of the golden ratio are spread evenly, where independent draws would leave many a small test split
    without a single empty label, and so without what an empty label does to a score.
    """
    start = np.random.default_rng([seed, zlib.crc32(f"enhancing of {settings.name}".encode())]).random()
    return (start + index * _GOLDEN_RATIO) % 1 >= settings.no_enhancing_share


def _drawn(name: str, seed: int) -> HospitalSettings:
    generator = np.random.default_rng([seed, zlib.crc32(f"settings of {name}".encode())])
    low, core = generator.uniform(0.24, 0.32), generator.uniform(0.48, 0.60)
    return HospitalSettings(
        name,
        noise=float(generator.uniform(0.035, 0.07)),
        bias_field=float(generator.uniform(0.08, 0.25)),
        blur_voxels=tuple(generator.uniform(0.3, 0.6, 3).tolist()),
        slice_factor=int(generator.integers(1, 3)),
        edema_contrast=float(generator.uniform(0.8, 1.0)),
        enhancing_contrast=float(generator.uniform(0.75, 1.0)),
        gray_white_contrast=float(generator.uniform(-0.5, 1.0)),
        gamma=tuple(generator.uniform(0.7, 1.4, 4).tolist()),
        gain=float(np.exp(generator.uniform(np.log(200.0), np.log(1500.0)))),
        tumor_radius=(float(low), float(low + generator.uniform(0.14, 0.20))),
        core_fraction=(float(core), float(core + 0.2)),
        no_enhancing_share=float(generator.uniform(0.05, 0.25)),
        white_matter_spots=(0, int(generator.integers(2, 5))),
        vessels=(2, int(generator.integers(5, 11))),
    )


def _shifted(settings: HospitalSettings, shift: float) -> HospitalSettings:
    if shift < 0:
        raise ValueError(f"shift: expected 0 or more, found {shift}")
    if shift == 1:
        return settings
    base = HOSPITALS["hospital-a"]
    blended = {
        field.name: _blend(getattr(base, field.name), getattr(settings, field.name), shift)
        for field in fields(settings)
        if field.name != "name"
    }
    blended["no_enhancing_share"] = min(blended["no_enhancing_share"], 1.0)
    return replace(settings, **blended)


_FLOOR = 0.01  # keeps noise, blur and radii positive; a contrast below 0 is meant, so it may pass


def _blend(start, end, shift: float):  # type: ignore[no-untyped-def]  # int, float, or a tuple of either
    if isinstance(start, tuple):
        return tuple(_blend(a, b, shift) for a, b in zip(start, end, strict=True))
    value = start + shift * (end - start)
    if isinstance(start, int):
        return max(round(value), min(start, end, 1))
    return value if end < 0 else max(value, _FLOOR)
