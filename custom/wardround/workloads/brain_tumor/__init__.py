"""Brain-tumor segmentation: load, network, loss, score."""
