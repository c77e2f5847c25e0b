"""wardround: federated learning across hospitals on NVIDIA FLARE."""

__version__ = "0.1.0"
