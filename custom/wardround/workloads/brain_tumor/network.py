"""The segmentation network: MONAI's `UNet` with one output channel a tumor region."""

from typing import Any

from monai.networks.nets import UNet

from wardround.workloads.brain_tumor.settings import GROUPS, REGIONS, UNetSettings


def build_network(settings: UNetSettings, *, channels_in: int) -> UNet:
    """A fresh 3D U-Net: [batch, sequences, X, Y, Z] to logits [batch, 3 regions (TC, WT, ET), X, Y, Z].

    Each side of the input must be a multiple of the product of strides. InstanceNorm is built with affine
    parameters: without them, MONAI's default, it has no entries at all for FedBN or an aggregation to see.

    Source: Kerfoot et al. 2018, "Left-ventricle quantification using residual U-Net" (MONAI's `UNet`).
    """
    return UNet(**unet_arguments(settings, channels_in=channels_in))


def last_block(network: UNet) -> tuple[str, ...]:
    """Names in the network's state of its last block of convolutions, which turns features into a logit a region.

    MONAI's `UNet` is a way down, what lies below, and a way up; with residual units the way up is two convolutions.
    """
    for prefix, module in network.named_modules():
        if module is network.model[-1]:
            return tuple(f"{prefix}.{name}" for name in module.state_dict())
    raise AssertionError("a module is among its parent's")


def unet_arguments(settings: UNetSettings, *, channels_in: int) -> dict[str, Any]:
    """Arguments of MONAI's `UNet` in plain values, as a bundle writes them down."""
    return {
        "spatial_dims": 3,
        "in_channels": channels_in,
        "out_channels": len(REGIONS),
        "channels": list(settings.channels),
        "strides": list(settings.strides),
        "num_res_units": settings.residual_units,
        "norm": _NORMS[settings.norm],
    }


_NORMS: dict[str, tuple[str, dict[str, Any]]] = {
    "batch": ("batch", {}),
    "instance": ("instance", {"affine": True}),
    "group": ("group", {"num_groups": GROUPS}),
}
